import { MAX_BODY_EXPRESSIONS, MAX_EXPRESSION_LENGTH } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';

import type { RawHttp } from '../file/shape.ts';
import { familyOf, tlsReasons } from './common.ts';
import type { BodyRule, HeaderRule, HttpModule } from './module.ts';
import { refuseSet, type Refusals } from './refusals.ts';

const METHODS: readonly string[] = checkTypes.http.options.method.enum;

/** A body is read to here. */
const MAX_BODY_BYTES = 1_048_576;

const reasons = {
  body: 'probes send no body',
  compression: 'probes report the body as it was sent',
  oauth2: 'probes ask for no tokens',
  proxy_url: 'probes use no proxy',
  skip_resolve_phase_with_proxy: 'probes use no proxy',
} as const;

export function planHttp(
  raw: RawHttp | undefined,
  refusals: Refusals,
): Omit<HttpModule, 'name' | 'line' | 'timeoutMs'> {
  refuseSet(refusals, raw, 'http', reasons);
  refuseSet(refusals, raw?.tls_config, 'http.tls_config', tlsReasons);
  return {
    prober: 'http',
    family: familyOf(raw, 'http', refusals),
    method: methodOf(raw, refusals),
    headers: headersOf(raw, refusals),
    followRedirects:
      raw?.no_follow_redirects === undefined ? (raw?.follow_redirects ?? true) : !raw.no_follow_redirects,
    http2: raw?.enable_http2 ?? true,
    insecureSsl: raw?.tls_config?.insecure_skip_verify ?? false,
    validStatusCodes: raw?.valid_status_codes ?? [],
    validHttpVersions: raw?.valid_http_versions ?? [],
    failIfSsl: raw?.fail_if_ssl ?? false,
    failIfNotSsl: raw?.fail_if_not_ssl ?? false,
    bodySizeLimit: bodySizeLimitOf(raw, refusals),
    bodyRules: bodyRules(raw, refusals),
    headerRules: [
      ...headerRules(raw?.fail_if_header_matches, true),
      ...headerRules(raw?.fail_if_header_not_matches, false),
    ],
  };
}

function bodyRules(raw: RawHttp | undefined, refusals: Refusals): readonly BodyRule[] {
  const options = ['fail_if_body_matches_regexp', 'fail_if_body_not_matches_regexp'] as const;
  const rules = options.flatMap((option) => {
    const expressions = raw?.[option] ?? [];
    if (expressions.some((regexp) => regexp.length > MAX_EXPRESSION_LENGTH)) {
      refusals.refuse(raw!, 'http', option, `an expression has at most ${MAX_EXPRESSION_LENGTH} characters`);
    }
    return expressions.map((regexp) => ({ regexp, failsOnMatch: option === 'fail_if_body_matches_regexp' }));
  });
  if (rules.length > MAX_BODY_EXPRESSIONS) {
    const option = options.find((name) => (raw?.[name] ?? []).length > 0)!;
    refusals.refuse(raw!, 'http', option, `at most ${MAX_BODY_EXPRESSIONS} expressions about the body are allowed`);
  }
  return rules;
}

function headerRules(raw: RawHttp['fail_if_header_matches'], failsOnMatch: boolean): readonly HeaderRule[] {
  return (raw ?? []).map(({ header = '', regexp = '', allow_missing: allowMissing = false }) => {
    return { header, regexp, failsOnMatch, allowMissing };
  });
}

function methodOf(raw: RawHttp | undefined, refusals: Refusals): string {
  const { method = '' } = raw ?? {};
  if (method === '') return 'GET';
  if (!METHODS.includes(method)) refusals.refuse(raw!, 'http', 'method', `must be one of ${METHODS.join(', ')}`);
  return method;
}

function headersOf(raw: RawHttp | undefined, refusals: Refusals): Readonly<Record<string, string>> {
  const given = Object.fromEntries(raw?.headers ?? []);
  const authorization = authorizationOf(raw, refusals);
  const headers = authorization === undefined ? given : { ...given, Authorization: authorization };
  const params = { host: 'http://example.com/', insecureSSL: false, options: { headers } as never };
  for (const { message } of checkTypes.http.inputErrors?.(params) ?? []) {
    refusals.refuse(raw!, 'http', 'headers', message);
  }
  return headers;
}

function authorizationOf(raw: RawHttp | undefined, refusals: Refusals): string | undefined {
  const { basic_auth: basic, authorization: other } = raw ?? {};
  /** As Prometheus reads a secret: without the blanks around it. */
  const fileOf = (owner: object | undefined, path: string, option: string): string | undefined =>
    refusals.textOf(owner, path, option)?.trim();
  if (basic !== undefined) {
    const password = fileOf(basic, 'http.basic_auth', 'password_file') ?? basic.password ?? '';
    return `Basic ${Buffer.from(`${basic.username ?? ''}:${password}`).toString('base64')}`;
  }
  const token = fileOf(raw, 'http', 'bearer_token_file') ?? raw?.bearer_token ?? '';
  if (token !== '') return `Bearer ${token}`;
  const credentials = fileOf(other, 'http.authorization', 'credentials_file') ?? other?.credentials ?? '';
  if (credentials === '') return undefined;
  const type = other?.type?.trim() ?? '';
  return `${type === '' ? 'Bearer' : type} ${credentials}`;
}

function bodySizeLimitOf(raw: RawHttp | undefined, refusals: Refusals): number {
  const { body_size_limit: limit = 0 } = raw ?? {};
  if (limit >= 0 && limit <= MAX_BODY_BYTES) return limit;
  refusals.refuse(raw!, 'http', 'body_size_limit', 'must be from 0 to 1MiB: a body is read to there');
  return 0;
}

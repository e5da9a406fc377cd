import { MAX_BODY_EXPRESSIONS, MAX_EXPRESSION_LENGTH } from '@vantage/contract';
import { codings, MAX_REQUEST_BODY_BYTES } from '@vantage/diagnostics/contract';

import type { RawHttp } from '../file/shape.ts';
import { requiredFamily } from './common.ts';
import { planHeaders } from './http-headers.ts';
import type { BodyRule, Coding, HeaderRule, HttpModule } from './module.ts';
import { refuseSet, type Refusals } from './refusals.ts';
import { planOAuth2 } from './oauth2.ts';
import { planTls } from './tls.ts';

/** Limit of the bytes read from a body. */
const MAX_BODY_BYTES = 1_048_576;

const reasons = {
  proxy_url: 'probes use no proxy',
  skip_resolve_phase_with_proxy: 'probes use no proxy',
} as const;

export function planHttp(
  raw: RawHttp | undefined,
  refusals: Refusals,
): Omit<HttpModule, 'name' | 'line' | 'timeoutMs'> {
  refuseSet(refusals, raw, 'http', reasons);
  return {
    prober: 'http',
    family: requiredFamily(raw, 'http', refusals),
    method: methodOf(raw, refusals),
    ...planHeaders(raw, refusals),
    body: bodyOf(raw, refusals),
    oauth2: planOAuth2(raw, refusals),
    compression: compressionOf(raw, refusals),
    followRedirects:
      raw?.no_follow_redirects === undefined ? (raw?.follow_redirects ?? true) : !raw.no_follow_redirects,
    http2: raw?.enable_http2 ?? true,
    tlsOptions: planTls(raw?.tls_config, 'http.tls_config', refusals),
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
  const isToken = /^[!#-'*+.^_`|~0-9A-Za-z-]{1,32}$/.test(method);
  if (!isToken) refusals.refuse(raw!, 'http', 'method', 'is no method of at most 32 characters');
  if (method === 'CONNECT') refusals.refuse(raw!, 'http', 'method', 'CONNECT is for proxies');
  return method;
}

function bodyOf(raw: RawHttp | undefined, refusals: Refusals): string | undefined {
  const { body = '' } = raw ?? {};
  if (Buffer.byteLength(body) > MAX_REQUEST_BODY_BYTES) {
    refusals.refuse(raw!, 'http', 'body', `has more than ${MAX_REQUEST_BODY_BYTES} bytes`);
  }
  return body === '' ? undefined : body;
}

function compressionOf(raw: RawHttp | undefined, refusals: Refusals): Coding | undefined {
  const name = raw?.compression?.toLowerCase() ?? '';
  if (name === '' || name === 'identity') return undefined;
  const coding = codings.find((known) => known === name);
  if (coding === undefined) {
    refusals.refuse(raw!, 'http', 'compression', `must be one of ${codings.join(', ')}, identity`);
  }
  return coding;
}

function bodySizeLimitOf(raw: RawHttp | undefined, refusals: Refusals): number {
  const { body_size_limit: limit = 0 } = raw ?? {};
  if (limit >= 0 && limit <= MAX_BODY_BYTES) return limit;
  refusals.refuse(raw!, 'http', 'body_size_limit', 'must be from 0 to 1MiB: a body is read to there');
  return 0;
}

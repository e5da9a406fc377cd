import { roundMs, singleFamily, type Failure, type ParamsOf } from '@vantage/contract';

import { outcomeOf } from '../../shared/classify-error.ts';
import { NOT_TLS } from '../../shared/error-codes.ts';
import type { TlsRules } from '../../tls/rules.ts';
import type { DiagnosticContext, Outcome } from '../../diagnostic.ts';
import { boundText } from '../../shared/bounded-text.ts';
import { createBodyRules } from './body-rules.ts';
import { cookieJar } from './redirects/cookies.ts';
import { DEFAULT_BODY_BYTES } from './contract.ts';
import { createHsts } from './redirects/hsts.ts';
import type { Http } from './types.ts';
import type { Step, StepProgress } from './hop/hop-timings.ts';
import {
  isRedirect,
  keyOf,
  no,
  redirected,
  requestHeaders,
  withCookies,
  type Request,
  portOf,
} from '../../http-client/request.ts';
import { fetchToken, type TokenReading } from './oauth2.ts';
import { redirectOf, type Redirects } from './redirects/redirect-row.ts';
import { expressionsOf, requestOf, type RequestRules } from './request-rules.ts';
import { takeStep } from './hop/run-hop.ts';

/**
 * Sends one HTTP request, and another for each redirect to follow, each over new sockets to an admitted address.
 *
 * @throws TypeError if `params.host` is no URL
 */
export async function runHttp(params: ParamsOf<Http>, context: DiagnosticContext<Http>): Promise<Outcome<Http>> {
  const { insecureSSL, options } = params;
  const { httpVersion, followRedirects } = options;
  const rules = requestOf(params);
  const bodyRules = createBodyRules(expressionsOf(params), rules?.compression);
  if ('failure' in bodyRules) return { result: 'error', rt: null, resolvedIp: null, error: bodyRules.failure };
  const token = rules?.oauth2 === undefined ? undefined : await fetchToken(rules.oauth2, context);
  if (token?.failure) return withoutToken(params, token.failure, context);
  const redirects: Redirects = [];
  const onProgress = (fields: StepProgress): void => context.emitPartial({ ...fields, redirects: [...redirects] });
  const seen = new Map<string, string>();
  const jar = cookieJar();
  const hsts = isOfBrowsers(params) ? createHsts(jar) : undefined;
  const first = new URL(params.host);
  /** The server name of the module applies to the first host only, as in blackbox_exporter. */
  const tlsFor = ({ host }: URL): TlsRules | undefined => {
    if (rules === undefined || host === first.host) return rules?.tls;
    const { serverName: _, ...tls } = rules.tls;
    return tls;
  };
  let request = firstRequest(params, context.attribution.userAgent, token);

  for (;;) {
    const sent = withCookies(request, jar.cookiesFor(request.url));
    const taken = await takeStep(
      { ...sent, onBody: bodyRules.start() },
      { insecureSSL, httpVersion, family: singleFamily(options), tls: tlsFor(request.url), onProgress },
      context,
    );
    if (taken.head !== null) jar.keep(request.url, taken.head);
    const step = { ...taken, fields: { ...taken.fields, ...hsts?.after(request, sent, taken) } };
    const failure = step.failure ?? statusFailure(step);
    if (failure !== null || followRedirects === 0 || step.head === null || !isRedirect(step.head)) {
      const ending = failure === null ? null : fromRedirect(failure, redirects, request.url);
      return { ...outcome(step, redirects, ending), ...(await bodyRules.fields(step)) };
    }

    const next = redirected(request, step.head);
    if (next.failure !== null) return outcome(step, redirects, next.failure);
    const isLast = redirects.length === followRedirects;
    const followed = withCookies(next.request, jar.cookiesFor(next.request.url));
    if (isLoop(seen, keyOf(sent), keyOf(followed), isLast)) {
      return outcome(step, redirects, no('redirect_loop', 'The redirects form a loop.'));
    }
    if (isLast) {
      return outcome(step, redirects, no('redirect_limit', `There are more redirects than ${followRedirects}.`));
    }
    redirects.push(redirectOf(step, redirects));
    request = next.request;
  }
}

/** True if browsers send the request so: the answer may depend on its method and its headers. */
function isOfBrowsers(params: ParamsOf<Http>): boolean {
  const { method, headers } = params.options;
  return method === 'GET' && Object.keys(headers).length === 0 && requestOf(params) === undefined;
}

function firstRequest(params: ParamsOf<Http>, userAgent: string, token: TokenReading | undefined): Request {
  const { host, options } = params;
  const rules = requestOf(params);
  return {
    url: new URL(host),
    method: rules?.method ?? options.method,
    headers: [...requestHeaders(userAgent, withToken(rules?.headers ?? options.headers, token)), ...lengthOf(rules)],
    ...(rules === undefined ? {} : { host: rules.host, body: bytesOf(rules.body), becomesGet: true }),
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_BODY_BYTES,
    followsRedirects: options.followRedirects > 0,
  };
}

/**
 * True if the redirects form a loop. A page that is asked again may answer, as after a consent page. So a loop is
 * proved only by the same redirect for the second time, or, once no further redirect may be followed, by one to a
 * request that was redirected before.
 *
 * @param seen the request to which each one was redirected last; adds this redirect
 */
function isLoop(seen: Map<string, string>, from: string, to: string, isLast: boolean): boolean {
  const isAgain = seen.get(from) === to;
  seen.set(from, to);
  return isAgain || (isLast && seen.has(to));
}

/** Fails the check because there is no token. The name is resolved nevertheless, as blackbox_exporter does. */
async function withoutToken(
  { host, options }: ParamsOf<Http>,
  failure: Failure,
  { admit, signal }: DiagnosticContext<Http>,
): Promise<Outcome<Http>> {
  const url = new URL(host);
  const request = {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: portOf(url),
    purpose: 'http' as const,
    family: singleFamily(options),
  };
  const admission = await admit(request, signal).catch(() => undefined);
  const target = admission?.admitted === true ? admission.target : undefined;
  const timings = target === undefined ? {} : { timings: { dns: target.resolveMs, total: target.resolveMs } };
  return { ...timings, result: outcomeOf(failure), rt: null, resolvedIp: target?.address ?? null, error: failure };
}

/** Adds the token; like in Go's client, it replaces an Authorization header of the module. */
function withToken(headers: Readonly<Record<string, string>>, token: TokenReading | undefined): Record<string, string> {
  if (token === undefined || token.failure !== null) return headers;
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization');
  return { ...Object.fromEntries(others), Authorization: token.authorization };
}

function bytesOf(text: string | undefined): Uint8Array | undefined {
  return text === undefined ? undefined : Buffer.from(text);
}

/**
 * Content-Length (RFC 9110 section 8.6): for a request without a body, 0 is sent only if the method usually has one.
 */
function lengthOf(rules: RequestRules | undefined): readonly (readonly [string, string])[] {
  const { method = 'GET', body } = rules ?? {};
  const isSent = body !== undefined || ['POST', 'PUT', 'PATCH'].includes(method);
  return isSent ? [['Content-Length', String(Buffer.byteLength(body ?? ''))]] : [];
}

function outcome(step: Step, redirects: Redirects, failure: Failure | null): Outcome<Http> {
  const { resolvedIp, rt, fields } = step;
  return {
    ...fields,
    result: failure === null ? 'success' : outcomeOf(failure),
    rt,
    resolvedIp,
    error: failure,
    elapsed: roundMs(redirects.reduce((sum, { timings }) => sum + timings.total, fields.timings?.total ?? 0)),
    redirects,
  };
}

function statusFailure({ head }: Step): Failure | null {
  if (head === null || head.statusCode < 400) return null;
  return no('http_status', `The target answered with status ${head.statusCode}.`);
}

/** After a redirect, a refusal by the policy is the target's fault, and a failure elsewhere names its origin. */
function fromRedirect(failure: Failure, redirects: Redirects, url: URL): Failure {
  const { origin } = url;
  const [first] = redirects;
  if (first === undefined) return withPlainUrl(failure, url);
  if (failure.code === 'target_refused_by_policy') return { ...failure, code: 'redirect_refused', source: 'target' };
  if (URL.parse(first.url)?.origin === origin) return failure;
  return { ...failure, message: `${failure.message} This was at ${boundText(origin, 256)}, to which it redirects.` };
}

/** A server that does not speak TLS may speak HTTP: clients choose https for a host without a scheme. */
function withPlainUrl(failure: Failure, { hostname, port }: URL): Failure {
  if (failure.message !== NOT_TLS) return failure;
  const url = `http://${boundText(hostname, 256)}:${port === '' ? 443 : port}/`;
  return { ...failure, message: `${failure.message} If it speaks HTTP without TLS, its URL is ${url}.` };
}

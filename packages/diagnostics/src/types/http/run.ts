import { roundMs, type Failure, type ParamsOf } from '@vantage/contract';

import { outcomeOf } from '../../shared/classify-error.ts';
import type { DiagnosticContext, Outcome } from '../../diagnostic.ts';
import { boundText } from '../../shared/bounded-text.ts';
import { createBodyRules } from './body-rules.ts';
import { cookieJar } from './cookies.ts';
import { DEFAULT_BODY_BYTES, MAX_REDIRECT_DEVIATIONS } from './contract.ts';
import type { Http, HttpFields } from './types.ts';
import type { Step, StepProgress } from './hop-timings.ts';
import {
  isRedirect,
  keyOf,
  no,
  redirected,
  requestHeaders,
  withCookies,
  type Request,
} from '../../http-client/request.ts';
import { takeStep } from './run-hop.ts';

type Redirects = NonNullable<HttpFields['redirects']>;

/** Modules of the operator set them; see `rules` of the contract. */
interface WithRules {
  readonly rules?: { readonly body: readonly string[] };
}

/**
 * One HTTP request, and one more for each redirect that is to be followed, each over new sockets to the address
 * that the target was pinned to.
 *
 * @throws TypeError where `params.host` is no URL
 */
export async function runHttp(params: ParamsOf<Http>, context: DiagnosticContext<Http>): Promise<Outcome<Http>> {
  const { insecureSSL, options } = params;
  const { method, httpVersion, family, followRedirects, maxBodyBytes = DEFAULT_BODY_BYTES } = options;
  const bodyRules = createBodyRules((params as WithRules).rules?.body);
  if ('failure' in bodyRules) return { result: 'error', rt: null, resolvedIp: null, error: bodyRules.failure };
  const redirects: Redirects = [];
  const onProgress = (fields: StepProgress): void => context.emitPartial({ ...fields, redirects: [...redirects] });
  const seen = new Set<string>();
  const jar = cookieJar();
  let request: Request = {
    url: new URL(params.host),
    method,
    headers: requestHeaders(context.attribution.userAgent, options.headers),
    maxBodyBytes,
    followsRedirects: followRedirects > 0,
  };

  for (;;) {
    const sent = withCookies(request, jar.cookiesFor(request.url));
    seen.add(keyOf(sent));
    const step = await takeStep(
      { ...sent, onBody: bodyRules.start() },
      { insecureSSL, httpVersion, family, onProgress },
      context,
    );
    const failure = step.failure ?? statusFailure(step);
    if (failure !== null || followRedirects === 0 || step.head === null || !isRedirect(step.head)) {
      const ending = failure === null ? null : fromRedirect(failure, redirects);
      return { ...outcome(step, redirects, ending), ...bodyRules.fields(step) };
    }

    jar.keep(request.url, step.head);
    const next = redirected(request, step.head);
    if (next.failure !== null) return outcome(step, redirects, next.failure);
    if (seen.has(keyOf(withCookies(next.request, jar.cookiesFor(next.request.url))))) {
      return outcome(step, redirects, no('redirect_loop', 'The redirects form a loop.'));
    }
    if (redirects.length === followRedirects) {
      return outcome(step, redirects, no('redirect_limit', `There are more redirects than ${followRedirects}.`));
    }
    redirects.push(redirectOf(step, redirects));
    request = next.request;
  }
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

/** The policy refuses the target of the check as such; where a redirect led there, it is the target's doing. */
function fromRedirect(failure: Failure, redirects: Redirects): Failure {
  if (redirects.length === 0 || failure.code !== 'target_refused_by_policy') return failure;
  return { ...failure, code: 'redirect_refused', source: 'target' };
}

/** Text of one redirect, of all of them, and of each that comes after those. */
const [MAX_TEXT, MAX_TEXT_IN_ALL, LEAST_TEXT] = [1_024, 8_192, 256];

/** A redirect as its row in the result: ten of them have to fit with the rest. */
function redirectOf({ fields, resolvedIp, rt }: Step, before: Redirects): Redirects[number] {
  const { url, statusCode, httpVersion, location, timings, deviations } = fields;
  const taken = before.reduce((sum, row) => sum + row.url.length + (row.location?.length ?? 0), 0);
  const most = taken + 2 * MAX_TEXT > MAX_TEXT_IN_ALL ? LEAST_TEXT : MAX_TEXT;
  return {
    url: boundText(url!, most),
    statusCode: statusCode!,
    httpVersion: httpVersion!,
    location: typeof location === 'string' ? boundText(location, most) : null,
    resolvedIp: resolvedIp!,
    rt: rt!,
    timings: timings!,
    ...(deviations === undefined ? {} : { deviations: deviations.slice(0, MAX_REDIRECT_DEVIATIONS) }),
  };
}

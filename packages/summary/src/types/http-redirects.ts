import { buildFinding, type FindingDraft } from '../finding.ts';
import type { ProbeResult, SparseResultOf } from '../probe-result.ts';
import { reasonsOf } from '../reasons.ts';
import { listed, naming, safeText, tally, unique } from '../words.ts';

type HttpResult = ProbeResult<SparseResultOf<'http'>>;

/** Statuses whose Location clients follow: those of 300, 304 and 305 lead browsers nowhere. */
const REDIRECTING: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Absolute redirect target of a response; undefined if it does not redirect. */
export function redirectOf({ result }: HttpResult): readonly string[] | undefined {
  const target = redirectUrl(result);
  return target === undefined ? undefined : [target.href];
}

function redirectUrl({
  location,
  url,
  statusCode,
}: Pick<SparseResultOf<'http'>, 'location' | 'url' | 'statusCode'>): URL | undefined {
  if (location === null || location === undefined || location === '') return undefined;
  if (statusCode === undefined || !REDIRECTING.has(statusCode)) return undefined;
  return URL.parse(location, url ?? undefined) ?? undefined;
}

const failedRedirects: ReadonlySet<string> = new Set(['redirect_refused', 'redirect_loop', 'redirect_limit']);

export function findRedirects(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const all: FindingDraft[] = [];
  const failed = probeResults.filter(({ result }) => failedRedirects.has(result.error?.code ?? ''));
  if (failed.length > 0) {
    const text = `The redirects were not followed to an answer for ${naming(failed)}: ${reasonsOf(failed)}.`;
    all.push(
      buildFinding('http_redirect_failed', 'warning', failed, text, 'its redirects were not followed to an answer'),
    );
  }
  const elsewhere = elsewhereOf(probeResults);
  if (elsewhere.length > 0) {
    const hosts = unique(elsewhere.map(({ result }) => placeOf(result)!.host));
    const text = `Redirects lead ${naming(elsewhere)} to another host: ${listed(hosts.map((host) => safeText(host)))}.`;
    all.push(buildFinding('http_redirects_elsewhere', 'info', elsewhere, text));
  }
  all.push(...unencrypted(probeResults), ...differing(probeResults));
  return all;
}

/**
 * Finding: redirects lead probes to different places. Queries are not compared, since they often differ with each
 * request.
 */
function differing(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const redirected = probeResults.filter(({ result }) => placeOf(result) !== undefined);
  const nameOf = ({ result }: HttpResult): string => {
    const url = placeOf(result)!;
    return `${url.protocol}//${url.host}${url.pathname}`;
  };
  if (new Set(redirected.map(nameOf)).size < 2) return [];
  const seen = tally(redirected, (probeResult) => safeText(nameOf(probeResult), 160));
  return [buildFinding('http_redirects_differ', 'info', redirected, `Redirects lead to different places: ${seen}.`)];
}

/** Target of the redirects: that of the last answer, or else the URL of the last request if redirects were followed. */
function placeOf(result: SparseResultOf<'http'>): URL | undefined {
  const { redirects = [], url } = result;
  return redirectUrl(result) ?? (redirects.length === 0 ? undefined : (URL.parse(url ?? '') ?? undefined));
}

/**
 * Probes whose redirects lead to another host. If they were followed, and led all probes with an answer there, the
 * headline says so.
 */
function elsewhereOf(probeResults: readonly HttpResult[]): readonly HttpResult[] {
  const answered = probeResults.filter(({ result }) => result.statusCode !== undefined);
  const led = answered.filter(({ result }) => wasLedElsewhere(result));
  const isOfSome = led.length < answered.length;
  return probeResults.filter(
    (probeResult) => leadsElsewhere(probeResult.result) || (isOfSome && led.includes(probeResult)),
  );
}

/** Findings: redirects lead from https to http, followed or not, and browsers end in a loop there. */
function unencrypted(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const all: FindingDraft[] = [];
  const looping = probeResults.filter(({ result }) => loopOf(result) !== undefined);
  if (looping.length > 0) {
    const why = tally(looping, ({ result }) => {
      const { from, to } = loopOf(result)!;
      return `${safeText(from.href, 120)} redirects to ${safeText(to.href, 120)}`;
    });
    const others = probeResults.filter(({ result }) =>
      looping.some((one) => answersOtherwise(result, loopOf(one.result)!)),
    );
    const unless = others.length === 0 ? '' : `, unless they get another answer there, as ${naming(others)} did`;
    const text =
      `In browsers the redirects form a loop: ${why}, but https is demanded there (Strict-Transport-Security), ` +
      `so that they ask https again, and are redirected again${unless}. ` +
      'Programs that ignore this header, such as curl, go on.';
    all.push(buildFinding('http_hsts_loop', 'warning', looping, text, 'its redirects form a loop in browsers'));
  }
  const onward = ({ result }: HttpResult): readonly Downgrade[] =>
    downgrades(result).filter((one) => !isLoop(result, one));
  const hit = probeResults.filter((probeResult) => onward(probeResult).length > 0);
  if (hit.length === 0) return all;
  const places = unique(
    hit.flatMap((probeResult) =>
      onward(probeResult).map(({ to, hsts }) => `${safeText(to.origin, 120)}${instead(hsts)}`),
    ),
  );
  const text = `Redirects lead ${naming(hit)} from https to ${listed(places)}, which is not encrypted.`;
  return [...all, buildFinding('http_redirects_unencrypted', 'warning', hit, text)];
}

interface Downgrade {
  readonly from: URL;
  readonly to: URL;
  readonly hsts: SparseResultOf<'http'>['hsts'];
}

/** The redirects from https to http, followed or not. */
function downgrades(result: SparseResultOf<'http'>): readonly Downgrade[] {
  return [result, ...(result.redirects ?? [])].flatMap((answer) => {
    const [from, to] = [URL.parse(answer.url ?? ''), redirectUrl(answer)];
    return from?.protocol === 'https:' && to?.protocol === 'http:' ? [{ from, to, hsts: answer.hsts }] : [];
  });
}

/** The first redirect that browsers get again and again, as far as the answers of this probe tell. */
function loopOf(result: SparseResultOf<'http'>): Downgrade | undefined {
  return downgrades(result).find((one) => isLoop(result, one));
}

function isLoop(result: SparseResultOf<'http'>, one: Downgrade): boolean {
  return one.hsts === 'loop' && !answersOtherwise(result, one);
}

/** True if an answer of the result is of the same URL as the redirect, and leads to no http. */
function answersOtherwise(result: SparseResultOf<'http'>, { from }: Downgrade): boolean {
  return [result, ...(result.redirects ?? [])].some(
    (answer) =>
      answer.statusCode !== undefined &&
      URL.parse(answer.url ?? '')?.href === from.href &&
      redirectUrl(answer)?.protocol !== 'http:',
  );
}

function instead(hsts: Downgrade['hsts']): string {
  return hsts === undefined ? '' : ' (browsers ask https there, by Strict-Transport-Security)';
}

/** True if a response redirects to another host; a leading `www.` makes no difference. */
function leadsElsewhere(result: SparseResultOf<'http'>): boolean {
  const [to, from] = [redirectUrl(result), URL.parse(result.url ?? '')];
  // URLs such as `file:` have no host.
  return to !== undefined && to.host !== '' && from !== null && isOtherHost(to, from);
}

/** True if redirects that were followed led to another host; a leading `www.` makes no difference. */
function wasLedElsewhere({ redirects = [], url }: SparseResultOf<'http'>): boolean {
  const [to, from] = [URL.parse(url ?? ''), URL.parse(redirects[0]?.url ?? '')];
  return to !== null && from !== null && isOtherHost(to, from);
}

function isOtherHost(a: URL, b: URL): boolean {
  const plain = ({ hostname }: URL): string => hostname.replace(/^www\./, '');
  return plain(a) !== plain(b);
}

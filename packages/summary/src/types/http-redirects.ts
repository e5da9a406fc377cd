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

/** Finding: redirects lead from https to http, followed or not. */
function unencrypted(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const placesOf = (result: SparseResultOf<'http'>): readonly string[] =>
    [result, ...(result.redirects ?? [])].flatMap((answer) => {
      const [from, to] = [URL.parse(answer.url ?? ''), redirectUrl(answer)];
      return from?.protocol === 'https:' && to?.protocol === 'http:' ? [to.origin] : [];
    });
  const hit = probeResults.filter(({ result }) => placesOf(result).length > 0);
  if (hit.length === 0) return [];
  const places = unique(hit.flatMap(({ result }) => placesOf(result)));
  const text = `Redirects lead ${naming(hit)} from https to ${listed(places.map((place) => safeText(place, 120)))}, which is not encrypted.`;
  return [buildFinding('http_redirects_unencrypted', 'warning', hit, text)];
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

import type { SummaryGroup } from '@vantage/contract';

import { buildFinding, type FindingDraft } from '../finding.ts';
import { groupsOf } from '../groups.ts';
import { reasonsOf } from '../reasons.ts';
import type { ProbeResult, SparseResultOf } from '../probe-result.ts';
import { redirectPlace } from '../redirected.ts';
import { listed, naming, shown, tally, unique } from '../words.ts';
import { findDeadAddresses } from './dead-addresses.ts';
import { findSlowness } from './http-slow.ts';
import { findUnfinished } from './http-unfinished.ts';
import { hasDoubtfulTimes } from '../stalled.ts';

type HttpResult = ProbeResult<SparseResultOf<'http'>>;

export function groupHttp(probeResults: readonly HttpResult[]): readonly SummaryGroup[] {
  return [
    ...groupsOf('status', probeResults, ({ result }) =>
      result.statusCode === undefined ? undefined : [String(result.statusCode)],
    ),
    ...groupsOf('redirect', probeResults, redirectOf),
  ];
}

export function findHttp(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  return [
    ...statuses(probeResults),
    ...redirects(probeResults),
    ...findDeadAddresses(probeResults),
    ...findUnfinished(probeResults),
    ...deviations(probeResults),
    ...findSlowness(probeResults.filter((probeResult) => !hasDoubtfulTimes('http', probeResult))),
  ];
}

function statuses(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const answered = probeResults.filter(({ result }) => result.statusCode !== undefined);
  const from = (low: number, high: number): readonly HttpResult[] =>
    answered.filter(({ result }) => result.statusCode! >= low && result.statusCode! < high);
  const codes = (own: readonly HttpResult[]): string =>
    tally(own, ({ result }) => `${result.statusCode}${redirectPlace(result)}`);
  const all: FindingDraft[] = [];
  const [server, client] = [from(500, 1000), from(400, 500)];
  if (server.length > 0) {
    const severity = server.length === answered.length ? 'critical' : 'warning';
    all.push(
      buildFinding(
        'http_server_error',
        severity,
        server,
        `The server answers with a server error: status ${codes(server)}.${unknownStatus(server)}`,
      ),
    );
  }
  if (client.length > 0) {
    const text = `The server answers with a client error: status ${codes(client)}.`;
    all.push(
      buildFinding(
        'http_client_error',
        'warning',
        client,
        text,
        `with status ${listed(unique(client.map(({ result }) => String(result.statusCode))))}`,
      ),
    );
  }
  if (new Set(answered.map(({ result }) => result.statusCode)).size > 1) {
    const severity = server.length + client.length > 0 ? 'warning' : 'info';
    const text = `The status is not the same for all probes: ${codes(answered)}.`;
    all.push(buildFinding('http_status_differs', severity, answered, text, 'with different statuses'));
  }
  return all;
}

/** Clients treat statuses above 599 as server errors (RFC 9110 section 15), which the server may not mean. */
function unknownStatus(probeResults: readonly HttpResult[]): string {
  const isKnown = probeResults.every(({ result }) => result.statusCode! < 600);
  return isKnown ? '' : ' HTTP has no status above 599; clients treat such a one as a server error.';
}

/** Absolute redirect target of a response; undefined if it does not redirect. */
function redirectOf({ result }: HttpResult): readonly string[] | undefined {
  const target = redirectUrl(result);
  return target === undefined ? undefined : [target.href];
}

function redirectUrl({
  location,
  url,
  statusCode,
}: Pick<SparseResultOf<'http'>, 'location' | 'url' | 'statusCode'>): URL | undefined {
  if (location === null || location === undefined || location === '' || statusCode === undefined) return undefined;
  if (statusCode < 300 || statusCode >= 400) return undefined;
  return URL.parse(location, url ?? undefined) ?? undefined;
}

const failedRedirects: ReadonlySet<string> = new Set(['redirect_refused', 'redirect_loop', 'redirect_limit']);

function redirects(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const all: FindingDraft[] = [];
  const failed = probeResults.filter(({ result }) => failedRedirects.has(result.error?.code ?? ''));
  if (failed.length > 0) {
    const text = `The redirects were not followed to an answer for ${naming(failed)}: ${reasonsOf(failed)}.`;
    all.push(
      buildFinding('http_redirect_failed', 'warning', failed, text, 'its redirects were not followed to an answer'),
    );
  }
  const elsewhere = probeResults.filter(({ result }) => leadsElsewhere(result));
  if (elsewhere.length > 0) {
    const hosts = unique(elsewhere.map(({ result }) => redirectUrl(result)!.host));
    const text = `Redirects lead ${naming(elsewhere)} to another host: ${listed(hosts.map((host) => shown(host)))}.`;
    all.push(buildFinding('http_redirects_elsewhere', 'info', elsewhere, text));
  }
  all.push(...unencrypted(probeResults));
  const redirected = probeResults.filter((probeResult) => redirectOf(probeResult) !== undefined);
  // A query often differs with each request.
  const placeOf = ({ result }: HttpResult): string => {
    const url = redirectUrl(result)!;
    return `${url.protocol}//${url.host}${url.pathname}`;
  };
  if (new Set(redirected.map(placeOf)).size > 1) {
    const seen = tally(redirected, (probeResult) => shown(placeOf(probeResult), 160));
    all.push(buildFinding('http_redirects_differ', 'info', redirected, `Redirects lead to different places: ${seen}.`));
  }
  return all;
}

/** Redirects from https to http, followed or not. */
function unencrypted(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const placesOf = (result: SparseResultOf<'http'>): readonly string[] =>
    [result, ...(result.redirects ?? [])].flatMap((answer) => {
      const [from, to] = [URL.parse(answer.url ?? ''), redirectUrl(answer)];
      return from?.protocol === 'https:' && to?.protocol === 'http:' ? [to.origin] : [];
    });
  const hit = probeResults.filter(({ result }) => placesOf(result).length > 0);
  if (hit.length === 0) return [];
  const places = unique(hit.flatMap(({ result }) => placesOf(result)));
  const text = `Redirects lead ${naming(hit)} from https to ${listed(places.map((place) => shown(place, 120)))}, which is not encrypted.`;
  return [buildFinding('http_redirects_unencrypted', 'warning', hit, text)];
}

/** True if a response redirects to another host; a leading `www.` makes no difference. */
function leadsElsewhere(result: SparseResultOf<'http'>): boolean {
  const [to, from] = [redirectUrl(result), URL.parse(result.url ?? '')];
  const plain = (url: URL): string => url.hostname.replace(/^www\./, '');
  // URLs such as `file:` have no host.
  return to !== undefined && to.host !== '' && from !== null && plain(to) !== plain(from);
}

function deviations(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const deviant = probeResults.filter((probeResult) => deviationsOf(probeResult).length > 0);
  if (deviant.length === 0) return [];
  const rules = unique(
    deviant.flatMap((probeResult) =>
      deviationsOf(probeResult).map(({ code, clause }) => `${ruleName(code)} (${clause})`),
    ),
  );
  const refused = deviant.filter((probeResult) =>
    deviationsOf(probeResult).some(({ code }) => REFUSED_BY_BROWSERS.has(code)),
  );
  const headers = unique(
    refused.flatMap((probeResult) =>
      deviationsOf(probeResult).flatMap(({ code }) => REFUSED_BY_BROWSERS.get(code) ?? []),
    ),
  );
  const refusal = `Browsers such as Chromium refuse one with ${listed(headers)} headers that differ, as ${naming(refused)} got.`;
  const text =
    `The answer that ${naming(deviant)} got breaks the rules of HTTP, which ` +
    `${refused.length === 0 ? 'browsers overlook and ' : ''}strict proxies may refuse: ${listed(rules)}.` +
    (refused.length === 0 ? '' : ` ${refusal}`);
  return [buildFinding('http_deviates', 'warning', deviant, text)];
}

const REFUSED_BY_BROWSERS: ReadonlyMap<string, string> = new Map([
  ['location_differs', 'Location'],
  ['content_disposition_differs', 'Content-Disposition'],
]);

type Deviations = NonNullable<SparseResultOf<'http'>['deviations']>;

function deviationsOf({ result }: HttpResult): Deviations {
  return [...(result.deviations ?? []), ...(result.redirects ?? []).flatMap((redirect) => redirect.deviations ?? [])];
}

/** `bare_lf` becomes `bare LF`. */
function ruleName(code: string): string {
  return code.replaceAll('_', ' ').replace(/\b(lf|cr)\b/g, (word) => word.toUpperCase());
}

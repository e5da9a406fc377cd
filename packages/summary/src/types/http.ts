import type { SummaryGroup } from '@vantage/contract';

import { buildFinding, type FindingDraft } from '../finding.ts';
import { groupsOf } from '../groups.ts';
import type { ProbeResult, SparseResultOf } from '../probe-result.ts';
import { redirectPlace } from '../redirected.ts';
import { listed, naming, tally, unique } from '../words.ts';
import { findDeadAddresses } from './dead-addresses.ts';
import { findRedirects, redirectOf } from './http-redirects.ts';
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
    ...findRedirects(probeResults),
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
        `The server answers with a server error: status ${codes(server)}.${ofNetwork(server)}${unknownStatus(server)}`,
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

/** Status 511 is meant for a network between client and target; a target should not send it (RFC 6585 section 6). */
function ofNetwork(probeResults: readonly HttpResult[]): string {
  const own = probeResults.filter(({ result }) => result.statusCode === 511);
  if (own.length === 0) return '';
  return ` Status 511 is meant for networks that ask their clients to sign in: that of ${naming(own)} may have answered in the target’s place.`;
}

/** Clients should treat a status above 599 as a server error (RFC 9110 section 15), which the server may not mean. */
function unknownStatus(probeResults: readonly HttpResult[]): string {
  const isKnown = probeResults.every(({ result }) => result.statusCode! < 600);
  return isKnown ? '' : ' HTTP has no status above 599; clients treat such a one as a server error.';
}

function deviations(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const all: FindingDraft[] = [];
  const refused = probeResults.filter((probeResult) => headersOf(probeResult).length > 0);
  if (refused.length > 0) {
    const text =
      `The answer that ${naming(refused)} got has several ${listed(unique(refused.flatMap(headersOf)))} headers that differ: ` +
      'browsers refuse it (RFC 9110 section 5.3), while programs such as curl take one of them.';
    all.push(buildFinding('http_browser_refused', 'warning', refused, text, 'browsers refuse the answer'));
  }
  const others = (probeResult: HttpResult): Deviations =>
    deviationsOf(probeResult).filter(({ code }) => !REFUSED_BY_BROWSERS.has(code));
  const deviant = probeResults.filter((probeResult) => others(probeResult).length > 0);
  if (deviant.length === 0) return all;
  const rules = unique(
    deviant.flatMap((probeResult) => others(probeResult).map(({ code, clause }) => `${ruleName(code)} (${clause})`)),
  );
  const text =
    `The answer that ${naming(deviant)} got breaks the rules of HTTP, which browsers such as Chromium overlook and ` +
    `strict proxies may refuse: ${listed(rules)}.`;
  return [...all, buildFinding('http_deviates', 'warning', deviant, text)];
}

/** Deviations that Chromium and Firefox refuse, with the names of the headers. */
const REFUSED_BY_BROWSERS: ReadonlyMap<string, string> = new Map([
  ['location_differs', 'Location'],
  ['content_disposition_differs', 'Content-Disposition'],
]);

function headersOf(probeResult: HttpResult): readonly string[] {
  return deviationsOf(probeResult).flatMap(({ code }) => REFUSED_BY_BROWSERS.get(code) ?? []);
}

type Deviations = NonNullable<SparseResultOf<'http'>['deviations']>;

function deviationsOf({ result }: HttpResult): Deviations {
  return [...(result.deviations ?? []), ...(result.redirects ?? []).flatMap((redirect) => redirect.deviations ?? [])];
}

/** `bare_lf` becomes `bare LF`. */
function ruleName(code: string): string {
  return code.replaceAll('_', ' ').replace(/\b(lf|cr)\b/g, (word) => word.toUpperCase());
}

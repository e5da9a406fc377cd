import { buildFinding, type FindingDraft } from '../../finding.ts';
import { groupBy, type ProbeResult, type SparseResultOf } from '../../probe-result.ts';
import { redirectPlace } from '../../redirected.ts';
import { daysUntil } from '../../clock.ts';
import { thresholds } from '../../thresholds.ts';
import { countOf, listed, naming, safeText, unique } from '../../words.ts';

type HttpResult = ProbeResult<SparseResultOf<'http'>>;

/** Findings: certificates that expire soon. Expects no results with `tls_expired` as the first fault. */
export function findExpiry(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  return [...ofServers(probeResults), ...ofIssuers(probeResults)];
}

function ofServers(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const soon = probeResults.filter(({ result }) => isSoon(daysOf(result)));
  const due = soon.filter(({ result }) => isInLastPart(result));
  const early = soon.filter((one) => !due.includes(one));
  return [
    ...due.slice(0, 1).map(() => buildFinding('certificate_expires_soon', 'warning', due, `${sentenceOf(due)}.`)),
    ...early.slice(0, 1).map(() => {
      const text = `${sentenceOf(early)}, of a life of ${rangeOf(early.map(({ result }) => lifeDaysOf(result)))}.`;
      return buildFinding('certificate_expires_soon', 'info', early, text);
    }),
  ];
}

/** Without the full stop. */
function sentenceOf(soon: readonly HttpResult[]): string {
  const isOne = new Set(soon.map(({ result }) => result.tls?.chain[0]?.fingerprint256)).size === 1;
  const [what, verb] = isOne ? ['The certificate', 'expires'] : ['The certificates', 'expire'];
  return `${what} that ${naming(soon)} saw${placeOf(soon)} ${verb} ${whenOf(soon, daysOf)}`;
}

/** Finding: a certificate above that of the server expires soon, and the server sends no successor of it. */
function ofIssuers(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const soon = probeResults.filter(({ result }) => isSoon(issuerDaysOf(result)));
  return groupBy(soon, ({ result }) => result.tls!.issuerEnds!.name).map(([name, own]) => {
    const when = whenOf(own, issuerDaysOf);
    const text = `“${safeText(name, 80)}”, above the certificate that ${naming(own)} saw${placeOf(own)}, expires ${when}, and the server sends no other one.`;
    return buildFinding('certificate_expires_soon', 'warning', own, text);
  });
}

function isSoon(days: number | null | undefined): boolean {
  return typeof days === 'number' && days >= 0 && days <= thresholds.certificateDaysLeft;
}

/**
 * Days until the certificate expires, by the clock of the service if the dates are known: that of the probe may be
 * wrong. Undefined without TLS, null if not known.
 */
function daysOf(result: SparseResultOf<'http'>): number | null | undefined {
  const { tls, sslValidUntil } = result;
  return tls === undefined ? undefined : (daysUntil(sslValidUntil, result) ?? tls.daysLeft);
}

function issuerDaysOf(result: SparseResultOf<'http'>): number | undefined {
  const issuerEnds = result.tls?.issuerEnds;
  return issuerEnds === undefined ? undefined : (daysUntil(issuerEnds.validUntil, result) ?? issuerEnds.daysLeft);
}

type DaysOf = (result: SparseResultOf<'http'>) => number | null | undefined;

function whenOf(soon: readonly HttpResult[], daysOf: DaysOf): string {
  const days = soon.map(({ result }) => daysOf(result)!);
  const [least, most] = [Math.min(...days), Math.max(...days)];
  if (most === 0) return 'in less than a day';
  return least === 0 ? `in less than ${most + 1} days` : `in ${rangeOf(days)}`;
}

/** Such as `6 days`, `6 to 10 days` or, from zero, `at most 10 days`. */
function rangeOf(days: readonly number[]): string {
  const [least, most] = [Math.min(...days), Math.max(...days)];
  if (most === 0) return 'less than a day';
  if (least === 0) return `at most ${countOf(most, 'day')}`;
  return least === most ? countOf(most, 'day') : `${least} to ${countOf(most, 'day')}`;
}

/** Whole days for which the certificate is valid. Expects both dates. */
function lifeDaysOf({ sslValidFrom, sslValidUntil }: SparseResultOf<'http'>): number {
  return Math.round((Date.parse(sslValidUntil!) - Date.parse(sslValidFrom!)) / DAY_MS);
}

function placeOf(soon: readonly HttpResult[]): string {
  const places = unique(soon.map(({ result }) => redirectPlace(result))).filter((place) => place !== '');
  return places.length === 0 ? '' : `${listed(places)},`;
}

/**
 * False only for a short-lived certificate with more than 1 / `certificateShareLeft` of its life left. Compares exact
 * times, because whole days are too coarse: a third of six days is two.
 */
function isInLastPart({ sslValidFrom, sslValidUntil, finishedAt }: SparseResultOf<'http'>): boolean {
  if (typeof sslValidFrom !== 'string' || typeof sslValidUntil !== 'string') return true;
  const [from, until, now] = [sslValidFrom, sslValidUntil, finishedAt ?? ''].map((time) => Date.parse(time));
  const lifeDays = (until! - from!) / DAY_MS;
  // Without all three times the day count decides.
  if (!(lifeDays < thresholds.certificateDaysLeft * thresholds.certificateShareLeft)) return true;
  return !(until! - now! > (until! - from!) / thresholds.certificateShareLeft);
}

const DAY_MS = 86_400_000;

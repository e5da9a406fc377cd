import type { Expectation } from '@vantage/contract';
import { daysUntil, hasWrongClock, isDated } from '@vantage/summary';

/** Fields of results about certificates that are read here. */
export interface MeasuredCertificates {
  readonly tls?: {
    readonly daysLeft: number | null;
    readonly issuerEnds?: { readonly name: string; readonly validUntil?: string; readonly daysLeft: number };
    readonly faults?: readonly Fault[];
    readonly chain?: readonly { readonly validFrom: string | null; readonly validUntil: string | null }[];
  };
  readonly sslValidFrom?: string | null;
  readonly sslValidUntil?: string | null;
  readonly finishedAt?: string;
}

interface Fault {
  readonly code: string;
  /** Position in `chain`. */
  readonly certificate?: number;
  readonly reason: string;
}

/** Days before its end from which on the alert `MonitoredCertificateExpires` (infra/prometheus) reports a certificate. */
const SOON_DAYS = 14;

interface End {
  readonly days: number;
  /** Why that is too early, given the least number of days. */
  readonly explain: (least: number) => string;
}

/**
 * Days until the first of the certificate and the CA certificates above it expires, negative once it has; a CA
 * certificate that has a successor does not count.
 */
export function certificateDaysOf(measured: MeasuredCertificates): number | null | undefined {
  return measured.tls === undefined ? undefined : (firstEndOf(measured)?.days ?? null);
}

/**
 * Share of the life of the server's certificate that is left, negative once it has expired; undefined if that is not
 * known, or if one above it ends soon: a short life of the server's certificate does not excuse that.
 */
export function certificateLifeLeftOf(measured: MeasuredCertificates): number | undefined {
  const { tls, sslValidFrom, sslValidUntil, finishedAt } = measured;
  if (tls === undefined || issuerEnds(measured).some(({ days }) => days < SOON_DAYS)) return undefined;
  const [from, until, now] = [sslValidFrom, sslValidUntil, finishedAt].map((time) => Date.parse(time ?? ''));
  const left = (until! - now!) / (until! - from!);
  return Number.isFinite(left) ? Number(left.toPrecision(6)) : undefined;
}

/** Reasons by which the certificates are not valid for as many days as expected. */
export function underDays(measured: MeasuredCertificates, { certificateDays }: Expectation): readonly string[] {
  if (certificateDays === undefined) return [];
  const first = firstEndOf(measured);
  const early = datedFaults(measured).filter(({ code }) => code === 'tls_not_yet_valid');
  return [
    ...(first === undefined || first.days >= certificateDays ? [] : [first.explain(certificateDays)]),
    ...early.map(({ reason }) => reason.replace(/\.$/, '')),
  ];
}

/** The earliest end among those of the certificate and of the CA certificates above it. */
function firstEndOf(measured: MeasuredCertificates): End | undefined {
  const ends = [...ownEnd(measured), ...issuerEnds(measured)];
  return ends.reduce<End | undefined>(
    (first, end) => (first === undefined || end.days < first.days ? end : first),
    undefined,
  );
}

/**
 * The end of the server's certificate, by the clock of the service if the dates are known: that of the probe may be
 * wrong.
 */
function ownEnd(measured: MeasuredCertificates): readonly End[] {
  const days = daysUntil(measured.sslValidUntil, measured) ?? measured.tls?.daysLeft ?? undefined;
  const explain: End['explain'] = (least) => `certificate ${state(days!, least)}`;
  return days === undefined ? [] : [{ days, explain }];
}

/** The ends of the CA certificates above it. */
function issuerEnds(measured: MeasuredCertificates): readonly End[] {
  return [...issuerEnd(measured), ...expiredIssuers(measured)];
}

function issuerEnd(measured: MeasuredCertificates): readonly End[] {
  const issuer = measured.tls?.issuerEnds;
  if (issuer === undefined) return [];
  const days = daysUntil(issuer.validUntil, measured) ?? issuer.daysLeft;
  return [{ days, explain: (least) => `“${issuer.name}” above the certificate ${state(days, least)}` }];
}

/** Expired CA certificates of the chain: a request that accepts any certificate may succeed in spite of them. */
function expiredIssuers(measured: MeasuredCertificates): readonly End[] {
  return datedFaults(measured).flatMap(({ code, certificate = 0, reason }) => {
    const days = daysUntil(measured.tls?.chain?.[certificate]?.validUntil, measured);
    const isExpired = code === 'tls_expired' && certificate > 0 && days !== undefined && days < 0;
    return isExpired ? [{ days, explain: () => reason.replace(/\.$/, '') }] : [];
  });
}

function state(days: number, least: number): string {
  return days < 0 ? `expired ${dayCount(-days)} ago` : `valid for ${dayCount(days)}, fewer than ${least}`;
}

function dayCount(days: number): string {
  return days === 1 ? '1 day' : `${days} days`;
}

/** Faults about dates, unless the clock of the probe is the reason for them. */
function datedFaults(measured: MeasuredCertificates): readonly Fault[] {
  const isWrong = hasWrongClock(measured as Parameters<typeof hasWrongClock>[0]);
  return isWrong ? [] : (measured.tls?.faults ?? []).filter(({ code }) => isDated(code));
}

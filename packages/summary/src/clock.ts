import type { ProbeResult, SparseResultOf } from './probe-result.ts';

type Http = SparseResultOf<'http'>;

/**
 * True if the probe’s clock seems wrong: it finds certificates expired or not yet valid, and all of these are valid at
 * `finishedAt`, a time by the clock of the service.
 */
export function hasWrongClock({ tls, finishedAt }: Http): boolean {
  const dated = (tls?.faults ?? []).filter(({ code }) => isDated(code));
  const now = Date.parse(finishedAt ?? '');
  return (
    dated.length > 0 &&
    dated.every(({ certificate }) => {
      const { validFrom, validUntil } = tls?.chain[certificate ?? -1] ?? {};
      return Date.parse(validFrom ?? '') < now && now < Date.parse(validUntil ?? '');
    })
  );
}

/** True if the wrong clock is the only reason against the certificates. */
export function isMisdatedAlone(result: Http): boolean {
  return hasWrongClock(result) && result.tls!.faults!.every(({ code }) => isDated(code));
}

export function isDated(code: string): boolean {
  return code === 'tls_expired' || code === 'tls_not_yet_valid';
}

/**
 * True if a wrong clock is the reason for the failure, or for the success. Other failures, such as the status 503, do
 * not depend on it, nor does a success of a request that accepts any certificate.
 */
export function isDecidedByClock({ result, isInsecure }: Pick<ProbeResult<Http>, 'result' | 'isInsecure'>): boolean {
  const { error } = result;
  if (error === null || error === undefined) return isInsecure !== true && acceptsByClock(result);
  return isDated(error.code) && hasWrongClock(result);
}

/** A certificate may expire during a check, so that only a clock that is wrong by more than this shows. */
const MARGIN_MS = 3_600_000;

/** True if the probe accepted a certificate of the server that is out of date at `finishedAt`. */
export function acceptsByClock({ tls, finishedAt }: Http): boolean {
  if (tls?.authorized !== true) return false;
  const { validFrom, validUntil } = tls.chain[0] ?? {};
  const [from, until, now] = [validFrom, validUntil, finishedAt].map((time) => Date.parse(time ?? '')) as [
    number,
    number,
    number,
  ];
  return until + MARGIN_MS < now || now + MARGIN_MS < from;
}

/**
 * Whole days from the end of a result (`finishedAt`) to a time, rounded towards zero, but at most -1 if the time is
 * past. Undefined if either time is not known.
 */
export function daysUntil(
  time: string | null | undefined,
  { finishedAt }: Pick<Http, 'finishedAt'>,
): number | undefined {
  const days = (Date.parse(time ?? '') - Date.parse(finishedAt ?? '')) / DAY_MS;
  if (Number.isNaN(days)) return undefined;
  return days < 0 ? Math.min(-1, Math.ceil(days)) : Math.floor(days);
}

const DAY_MS = 86_400_000;

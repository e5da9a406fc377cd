/**
 * Days before the end from which expiry is highlighted; for a lifetime shorter than `SHORT_PARTS` times as many, its
 * last `1 / SHORT_PARTS`. The finding of the summary has the same limits.
 */
const [SOON_DAYS, SHORT_PARTS] = [14, 3];
const DAY_MS = 86_400_000;

interface Lifetime {
  readonly validFrom: string | null;
  readonly validUntil: string | null;
}

/**
 * True if a certificate is in the last days of its validity, like the finding `certificate_expires_soon`, or past it.
 *
 * @param left whole days
 * @param finishedAt time of the measurement, ISO 8601
 */
export function endsSoon({ validFrom, validUntil }: Lifetime, left: number, finishedAt: unknown): boolean {
  if (left > SOON_DAYS) return false;
  const [from, until, now] = [validFrom, validUntil, finishedAt].map((time) => Date.parse(String(time)));
  const life = until! - from!;
  // Without all three times the day count decides.
  return !(life < SOON_DAYS * SHORT_PARTS * DAY_MS && until! - now! > life / SHORT_PARTS);
}

/**
 * Expiry is highlighted in the last `SOON_DAYS` days; for a certificate that is valid for less than `SHORT_PARTS` ×
 * `SOON_DAYS` days in all, only in the last `1 / SHORT_PARTS` of that time. From the same limits on, the finding of the
 * summary is a warning (`packages/summary/src/thresholds.ts`).
 */
const [SOON_DAYS, SHORT_PARTS] = [14, 3];
const DAY_MS = 86_400_000;

interface Lifetime {
  readonly validFrom: string | null;
  readonly validUntil: string | null;
}

/**
 * True if a certificate is in the last days of its validity, like the warning `certificate_expires_soon`, or past it.
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

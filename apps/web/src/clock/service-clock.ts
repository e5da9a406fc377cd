/** Below this difference the clocks count as equal: `Date` has whole seconds, and responses take time. */
const EQUAL_MS = 5_000;

/** How far the clock of the service is ahead of that of the browser, milliseconds. */
let aheadMs = 0;

/** Reads the clock of the service from a response, unless a cache may have kept it. */
export function noteServiceTime({ headers }: Response): void {
  const time = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(time) || headers.get('cache-control')?.includes('max-age') === true) return;
  const difference = time - Date.now();
  aheadMs = Math.abs(difference) < EQUAL_MS ? 0 : difference;
}

/** The time of the service, to which all times of checks refer: the clock of the browser may be wrong. */
export function serviceNow(): number {
  return Date.now() + aheadMs;
}

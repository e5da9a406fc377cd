/** Length of the window that a limit counts over. */
export const WINDOW_MS = 60_000;

/**
 * A window is counted in slices of one second. The one that the window's start lies in counts in part, rounded up. So
 * no edge exists around which a client gets twice its limit at once, as with one counter a minute.
 */
export const SLICE_MS = 1_000;

/** What one more request on an axis came to. */
export interface Count {
  readonly admitted: boolean;
  /** Requests in the window, this one with them; above the limit where it was refused. Refused ones are not kept. */
  readonly hits: number;
  /** Milliseconds until the count falls: for a refused request, until one would be admitted. */
  readonly resetMs: number;
}

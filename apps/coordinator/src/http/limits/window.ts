/** Length of the window that a limit counts over. */
export const WINDOW_MS = 60_000;

/**
 * A window is counted in slices of one second. The one that the window's start lies in counts in part, rounded up. So
 * no edge exists around which a client gets twice its limit at once, as with one counter a minute.
 */
export const SLICE_MS = 1_000;

/** What one more request on its axes came to. */
export interface Count {
  /** By the axes of the client. */
  readonly admitted: boolean;
  /** Costs of the requests in the window, this one with them; above the limit if it was refused. Refused ones are not kept. */
  readonly hits: number;
  /** Milliseconds until the count falls: for a refused request, until one would be admitted. */
  readonly resetMs: number;
  /** The target axis that refuses a request which its client may make; of several, the one to wait longest for. */
  readonly refusedBy?: TargetRefusal;
}

export interface TargetRefusal {
  /** Its place among the target axes. */
  readonly axis: number;
  /** What the axis has left: less than the request costs. */
  readonly left: number;
  /** Milliseconds until the request would be admitted. */
  readonly resetMs: number;
}

/** Length of the window of rate limits. */
export const WINDOW_MS = 60_000;

/**
 * A sliding window in slices of one second. The oldest slice counts in part, rounded up. Unlike one counter per minute,
 * there is no boundary around which a client gets twice its limit.
 */
export const SLICE_MS = 1_000;

/** Result of counting a request. */
export interface Count {
  /** True if the client axes admit the request. */
  readonly admitted: boolean;
  /**
   * Sum of costs of the client itself in the window including this request, at most the limit; above the limit if the
   * client axes do not admit the request, which is then not counted.
   */
  readonly hits: number;
  /** What the client axes have left for requests of lower cost, if they do not admit this one. */
  readonly left?: number;
  /** Milliseconds until the count falls; for a refused request, until it would be admitted. */
  readonly resetMs: number;
  /** The target axis that refuses a request which the client axes admit; of several, the one with the longest wait. */
  readonly refusedBy?: TargetRefusal;
}

export interface TargetRefusal {
  /** Index among the target axes. */
  readonly axis: number;
  /** What the axis has left, in units of cost or in members: less than this request needs. */
  readonly left: number;
  /** Milliseconds until the request would be admitted. */
  readonly resetMs: number;
}

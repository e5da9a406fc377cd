/** What became of the checks and requests of one fault. */
export interface Tally {
  readonly fault: string;
  /** Answered with 202. */
  accepted: number;
  /** Not completed two seconds after their deadline, outages not counted. */
  late: number;
  /** Said something else after they had been completed, or had not exactly one final result per probe. */
  changed: number;
  /** Accepted, and then 404. */
  lost: number;
  /** Requests that a coordinator which ran all the time did not answer. */
  unanswered: number;
  /** Requests refused with 503, as they may be. */
  refused: number;
  /** … of those without `Retry-After`, which all must have. */
  refusedWithoutRetryAfter: number;
  /** Requests that ended with the coordinator they had been sent to. */
  cutOff: number;
  /** Any other answer. */
  wrong: number;
  /** Longest time after a deadline, outages not counted, milliseconds; negative: all were before it. */
  worstLatenessMs: number;
  /** What the newest said. */
  lastRefusal: string;
  /** How long refusals took, milliseconds. */
  readonly refusalsMs: number[];
  /** Results that are `probe_timeout`: the probe was away, or had too much to do. */
  timedOut: number;
  /** Probes without a success soon after the end of the fault. */
  deaf: number;
  /** The longest time from the end of the fault to a probe's first success, milliseconds. */
  slowestRecoveryMs: number;
  /** What the first wrong things were, in words. */
  readonly notes: string[];
}

export function newTally(fault: string): Tally {
  return {
    ...{ fault, accepted: 0, late: 0, changed: 0, lost: 0, unanswered: 0, refused: 0, refusedWithoutRetryAfter: 0 },
    ...{
      cutOff: 0,
      wrong: 0,
      worstLatenessMs: Number.NEGATIVE_INFINITY,
      refusalsMs: [],
      lastRefusal: '',
      timedOut: 0,
      deaf: 0,
      slowestRecoveryMs: 0,
      notes: [],
    },
  };
}

const MOST_NOTES = 5;

export function note(tally: Tally, text: string): void {
  if (tally.notes.length < MOST_NOTES) tally.notes.push(text);
}

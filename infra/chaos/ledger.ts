/** Counts of the checks and requests under one fault. */
export interface Tally {
  readonly fault: string;
  /** Checks that were accepted with 202. */
  accepted: number;
  /** Number of broken promises by their rule. */
  readonly broken: Partial<Record<Rule, number>>;
  /** Requests refused with 503, or with 422 while a fault explains that no probe is available. */
  refused: number;
  /** Requests without a response whose coordinator did not run all the time. */
  cutOff: number;
  /** Results that are `probe_timeout`. */
  timedOut: number;
  /** Number of `timedOut` results that stalls of the machine and outages during their checks explain. */
  timedOutByStalls: number;
  /** Longest delay of a completion after the deadline, without lost time, milliseconds; negative if all were early. */
  worstLatenessMs: number;
  /**
   * The longest time from the end of the fault to a probe's first success, milliseconds; Infinity if a probe had none.
   */
  slowestRecoveryMs: number;
  /** Durations of refusals, milliseconds. */
  readonly refusalsMs: number[];
  /** The first violations, as text. */
  readonly notes: string[];
}

/** The promises with which a history is compared, each with its goal line. */
export const rules = {
  late: 'checks not terminal in time',
  changed: 'results that changed after they were final',
  reopened: 'checks pending after they were completed',
  lost: 'checks lost',
  incomplete: 'checks completed without all results',
  events: 'event streams with a gap or a repeat',
  summary: 'summaries that contradict the results',
  unexplained: 'requests refused without a fault that explains it',
  control: 'requests refused and results timed out without a fault',
  unanswered: 'requests unanswered',
  wrong: 'requests answered wrongly',
  deaf: 'probes without a success in time after a fault',
  unended: 'attacks that the service did not end, and processes that did not survive a fault',
} as const;

export type Rule = keyof typeof rules;

export function newTally(fault: string): Tally {
  return {
    fault,
    accepted: 0,
    broken: {},
    refused: 0,
    cutOff: 0,
    timedOut: 0,
    timedOutByStalls: 0,
    worstLatenessMs: Number.NEGATIVE_INFINITY,
    slowestRecoveryMs: 0,
    refusalsMs: [],
    notes: [],
  };
}

const MOST_NOTES = 8;

/** Counts a broken promise. */
export function breakRule(tally: Tally, rule: Rule, text: string): void {
  tally.broken[rule] = (tally.broken[rule] ?? 0) + 1;
  if (tally.notes.length < MOST_NOTES) tally.notes.push(`${rule}: ${text}`.slice(0, 1_500));
}

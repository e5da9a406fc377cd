import type { FinalOutcome } from '@vantage/contract';

/** `refused`: an error because the agent refuses the target, which is the client's doing and no fault of the probe. */
export type CountedResult = FinalOutcome | 'refused';

/** A final result of an agent that has just been committed. */
export interface FinalResult {
  readonly checkId: string;
  readonly probe: string;
  readonly type: string;
  readonly result: CountedResult;
  /**
   * When the agent wrote the stream entry or, of an inline result, when the coordinator began to commit it;
   * milliseconds since the epoch by the clock of Redis.
   */
  readonly writtenAtMs: number;
  /**
   * Time of the commit, milliseconds: from when the entry or the notification was decoded, without the wait for
   * registrations of addresses.
   */
  readonly tookMs: number;
  /** Span context of the agent, if the check is traced. */
  readonly traceparent: string | undefined;
}

/** Callbacks that observe checks. None may throw. */
export interface CheckMetrics {
  readonly created: (type: string, probes: number, tookMs: number) => void;
  /** @param lagMs time since `writtenAtMs`; may be negative, because clocks differ */
  readonly committed: (final: FinalResult, lagMs: number) => void;
}

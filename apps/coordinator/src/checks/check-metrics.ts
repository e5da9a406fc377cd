import type { FinalOutcome } from '@vantage/contract';

/** A final result that has just been shown. */
export interface FinalResult {
  readonly checkId: string;
  readonly probe: string;
  readonly type: string;
  readonly result: FinalOutcome;
  /** When the agent wrote it, or when the hint was read that it came with; milliseconds since the epoch by Redis' clock. */
  readonly writtenAtMs: number;
  /** What it took from the reading of the stream or of the hint, milliseconds. */
  readonly tookMs: number;
  /** The agent's place in the trace of the check, where it is traced. */
  readonly traceparent: string | undefined;
}

/** What is counted as it happens. Neither may throw. */
export interface CheckMetrics {
  readonly created: (type: string, probes: number, tookMs: number) => void;
  /** @param lagMs from the moment the result was written; clocks may make it a little less than nothing */
  readonly committed: (final: FinalResult, lagMs: number) => void;
}

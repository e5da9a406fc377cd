import type { OutcomeWord } from '@vantage/contract';

/** A final result that has just been shown. */
export interface FinalResult {
  readonly checkId: string;
  readonly probe: string;
  readonly type: string;
  readonly result: OutcomeWord;
  /** When the agent wrote it, or when the hint was read that it came with; milliseconds since the epoch by Redis' clock. */
  readonly writtenAtMs: number;
  /** What it took from the reading of the stream or of the hint, milliseconds. */
  readonly tookMs: number;
  /** The agent's place in the trace of the check, where it is traced. */
  readonly traceparent: string | undefined;
}

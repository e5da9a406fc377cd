import type { Answer, FaultRecord, Setup, StreamEvent } from './history.ts';

/** Facts from the rest of the history that the rules for one check or one response need. */
export interface VerifyContext {
  readonly setup: Setup;
  readonly faults: readonly FaultRecord[];
  /** Length of the uncounted time within a span, milliseconds. */
  readonly lostWithin: (from: number, to: number) => number;
}

/** Name of the phase without faults. */
export const CONTROL = 'none';

/** An accepted check and all observations of it, in the order of the history. */
export interface CheckHistory {
  readonly start: Answer;
  readonly answers: readonly Answer[];
  readonly events: readonly StreamEvent[];
}

/** The body of an answer with results. */
export interface SeenCheck {
  readonly status: string;
  readonly createdAt: string;
  readonly completedAt: string | null;
  readonly results: Readonly<Record<string, SeenResult>>;
}

export interface SeenResult {
  readonly result: string;
  readonly error?: { readonly code: string; readonly phase?: string; readonly source?: string } | null;
}

/** A result as text for comparisons, without its screenshot: results contain the image, and events its URL. */
export function comparable(result: object): string {
  const { screenshot: _picture, screenshotUrl: _path, ...rest } = result as Record<string, unknown>;
  return JSON.stringify(Object.entries(rest).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export function idOf({ body }: Answer): string {
  return (body as { readonly checkId: string }).checkId;
}

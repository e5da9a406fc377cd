import { CHECK_ID_PATTERN } from './words.ts';

/**
 * What an agent may say with the hint that its stream has something new: the one final result that it has just sent
 * there. Whoever gets it can show it without reading the stream first. It may be lost, and the entry in the stream stands.
 */
export interface ResultNote {
  readonly check: string;
  /** JSON. */
  readonly data: string;
  /** The agent's place in the trace of the check, where it keeps one. */
  readonly traceparent?: string | undefined;
}

/** A larger result goes by the stream alone: each coordinator is sent every hint. Characters. */
export const MAX_NOTE_LENGTH = 16_384;

const NOTE = new RegExp(`^final (${CHECK_ID_PATTERN}) (-|[0-9a-f-]{1,128}) (\\{.*\\})$`, 's');

/** A hint that says no more than that there is something. */
export const BARE_HINT = '1';

/** @returns the text of the hint; a bare one where the result is too large */
export function writeResultNote({ check, data, traceparent = '-' }: ResultNote): string {
  return data.length > MAX_NOTE_LENGTH ? BARE_HINT : `final ${check} ${traceparent} ${data}`;
}

/** @returns undefined where the hint says no more than that there is something */
export function readResultNote(hint: string): ResultNote | undefined {
  if (hint.length > 2 * MAX_NOTE_LENGTH) return undefined;
  const [, check, traceparent, data] = NOTE.exec(hint) ?? [];
  if (check === undefined || data === undefined) return undefined;
  return { check, data, traceparent: traceparent === '-' ? undefined : traceparent };
}

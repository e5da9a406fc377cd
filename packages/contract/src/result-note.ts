import { CHECK_ID_PATTERN } from './words.ts';

/**
 * Inline payload of a notification: the final result that the agent has just appended to its stream. Coordinators can
 * publish it before they read the stream. Pub/sub is lossy; the stream entry is authoritative.
 */
export interface ResultNote {
  readonly check: string;
  /** JSON. */
  readonly data: string;
  /** Trace context of the agent, if it traces. */
  readonly traceparent?: string | undefined;
}

/**
 * Limit of an inline result, in characters: every coordinator receives every notification. Larger results go by the
 * stream only.
 */
export const MAX_NOTE_LENGTH = 16_384;

const NOTE = new RegExp(`^final (${CHECK_ID_PATTERN}) (-|[0-9a-f-]{1,128}) (\\{.*\\})$`, 's');

/** Notification without an inline result. */
export const BARE_HINT = '1';

/** @returns the text of the notification; `BARE_HINT` if the result is too large */
export function writeResultNote({ check, data, traceparent = '-' }: ResultNote): string {
  return data.length > MAX_NOTE_LENGTH ? BARE_HINT : `final ${check} ${traceparent} ${data}`;
}

/** @returns undefined for a notification without an inline result */
export function readResultNote(hint: string): ResultNote | undefined {
  if (hint.length > 2 * MAX_NOTE_LENGTH) return undefined;
  const [, check, traceparent, data] = NOTE.exec(hint) ?? [];
  if (check === undefined || data === undefined) return undefined;
  return { check, data, traceparent: traceparent === '-' ? undefined : traceparent };
}

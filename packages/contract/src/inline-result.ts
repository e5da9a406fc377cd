import { CHECK_ID_PATTERN } from './formats.ts';

/**
 * Inline payload of a notification: a final result that is also appended to the stream of its probe. The coordinator
 * that created the check can commit it without reading the stream. Pub/Sub is lossy; the stream entry is authoritative.
 */
export interface InlineResult {
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
export const MAX_INLINE_RESULT_LENGTH = 16_384;

const INLINE_RESULT = new RegExp(`^final (${CHECK_ID_PATTERN}) (-|[0-9a-f-]{1,128}) (\\{.*\\})$`, 's');

/** Notification without an inline result. */
export const BARE_NOTIFICATION = '1';

/** @returns the text of the notification; `BARE_NOTIFICATION` if the result is too large */
export function encodeNotification({ check, data, traceparent = '-' }: InlineResult): string {
  return data.length > MAX_INLINE_RESULT_LENGTH ? BARE_NOTIFICATION : `final ${check} ${traceparent} ${data}`;
}

/** Notification that the heartbeat has changed or was removed. */
export const HEARTBEAT_NOTIFICATION = 'heartbeat';

/**
 * True for a notification of more than twice the characters of the longest inline result: no agent sends one, even with
 * the prefix of `encodeNotification`.
 */
export function isOversizedNotification(notification: string): boolean {
  return notification.length > 2 * MAX_INLINE_RESULT_LENGTH;
}

/** @returns undefined for a notification that has no inline result or is oversized */
export function decodeNotification(notification: string): InlineResult | undefined {
  if (isOversizedNotification(notification)) return undefined;
  const [, check, traceparent, data] = INLINE_RESULT.exec(notification) ?? [];
  if (check === undefined || data === undefined) return undefined;
  return { check, data, traceparent: traceparent === '-' ? undefined : traceparent };
}

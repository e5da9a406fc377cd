import type { AnyCheckType } from './check-type.ts';
import { Type, type TProperties } from './type.ts';

/**
 * Names of the Server-Sent Events of `GET /check/:id/events`. `completed` carries the whole check and is the last
 * event.
 */
export type EventName = 'probe' | 'completed';

/**
 * Interval of comment lines on an idle stream. A client without data for twice this time can assume a lost connection.
 */
export const EVENT_HEARTBEAT_MS = 8_000;

/** Data of a `probe` event. The event id is the version of the check that this result produced. */
export interface ProbeEvent<Result = Readonly<Record<string, unknown>>> {
  readonly probe: string;
  /** Final, or pending with the fields known so far. */
  readonly result: Result;
}

/** A result in an event: a screenshot is a URL, never inline. */
export type EventResult<Result> = Result extends unknown
  ? Omit<Result, 'screenshot'> & { readonly screenshotUrl?: string }
  : never;

/** Adapts a check type to events: `screenshotUrl` replaces `screenshot`, if the type has one. */
export function eventCheckType(checkType: AnyCheckType): AnyCheckType {
  const { screenshot, ...added }: TProperties = checkType.added ?? {};
  if (screenshot === undefined) return checkType;
  const screenshotUrl = Type.String({
    maxLength: 2_048,
    description: 'Path of the screenshot in the service, a PNG.',
  });
  return { ...checkType, added: { ...added, screenshotUrl } };
}

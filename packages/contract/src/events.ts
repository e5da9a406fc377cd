import { Type, type TProperties } from 'typebox';

import type { AnyCheckType } from './check-type.ts';

/** The Server-Sent Events of `GET /check/:id/events`. The data of `completed` is the whole check; nothing comes after it. */
export type EventName = 'probe' | 'completed';

/** A comment is sent after this time without an event: who hears nothing for twice as long has lost the connection. */
export const EVENT_HEARTBEAT_MS = 15_000;

/** The data of a `probe` event. The event id is the version of the check in which the probe came to this result. */
export interface ProbeEvent<Result = Readonly<Record<string, unknown>>> {
  readonly probe: string;
  /** Final, or pending with what the probe has shown so far. */
  readonly result: Result;
}

/** A result as events carry it: a picture is named and never inline. */
export type EventResult<Result> = Result extends unknown
  ? Omit<Result, 'screenshot'> & { readonly screenshotUrl?: string }
  : never;

/** A check type as its events show it: `screenshotUrl` in place of `screenshot`. */
export function eventCheckType(checkType: AnyCheckType): AnyCheckType {
  const { screenshot, ...added }: TProperties = checkType.added ?? {};
  if (screenshot === undefined) return checkType;
  const screenshotUrl = Type.String({
    maxLength: 2_048,
    description: 'Where the picture of the page is, a PNG: a path of the service.',
  });
  return { ...checkType, added: { ...added, screenshotUrl } };
}

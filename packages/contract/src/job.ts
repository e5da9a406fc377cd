import { Type, type Static } from 'typebox';

import { checkIdSchema } from './words.ts';

/**
 * One probe's share of a check as BullMQ carries it; `params` holds what `paramsSchema` of the type says. Nothing of
 * the caller is in it. Unknown fields are allowed: a coordinator may be a release ahead of its agents.
 */
export const jobSchema = Type.Object({
  v: Type.Literal(1),
  checkId: checkIdSchema,
  type: Type.String({ maxLength: 32 }),
  params: Type.Object({}),
  /** Milliseconds since the epoch by the clock of Redis. */
  deadlineAt: Type.Integer({ minimum: 0 }),
  /** Where the job stands in a trace (W3C Trace Context); absent where none is kept. An agent may ignore it. */
  traceparent: Type.Optional(Type.String({ maxLength: 128 })),
});

export type Job = Static<typeof jobSchema>;

export const resultKinds = ['final', 'partial'] as const;
export type ResultKind = (typeof resultKinds)[number];

/** What an entry of a probe's result stream can be: a result of its own, or the screenshot of the whole check. */
export const entryKinds = [...resultKinds, 'screenshot'] as const;
export type EntryKind = (typeof entryKinds)[number];

/** The fields of one entry in a probe's result stream (`XADD`); `data` is JSON. */
export interface ResultEntry {
  /** The check the result is for. The probe is known from the stream it is in, never from what it says. */
  readonly check: string;
  readonly kind: EntryKind;
  readonly data: string;
  /** The picture, where the kind is `screenshot` and there is one; as it is, not as text. */
  readonly png?: Uint8Array | undefined;
}

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
});

export type Job = Static<typeof jobSchema>;

/** The fields of one entry in a probe's result stream (`XADD`); `data` is JSON. */
export const resultKinds = ['final', 'partial'] as const;
export type ResultKind = (typeof resultKinds)[number];

export interface ResultEntry {
  /** The check the result is for. The probe is known from the stream it is in, never from what it says. */
  readonly check: string;
  readonly kind: ResultKind;
  readonly data: string;
}

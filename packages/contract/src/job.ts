import { checkIdSchema } from './formats.ts';
import { Type, type Static } from './type.ts';

/**
 * The job of one probe as BullMQ carries it; `params` follows `paramsSchema` of the type, or `screenshotParamsSchema`.
 * It contains no data about the client. Unknown fields are allowed, since a coordinator may run a later release than
 * its agents.
 */
export const jobSchema = Type.Object({
  v: Type.Literal(1),
  checkId: checkIdSchema,
  type: Type.String({ maxLength: 32 }),
  params: Type.Object({}),
  /** Milliseconds since the epoch, by the Redis clock. */
  deadlineAt: Type.Integer({ minimum: 0 }),
  /** W3C Trace Context of the job; absent without tracing. Agents may ignore it. */
  traceparent: Type.Optional(Type.String({ maxLength: 128 })),
});

export type Job = Static<typeof jobSchema>;

/**
 * Longest time from the creation of a check to the deadline of its results, milliseconds: a traceroute with 60 rounds
 * and a chosen DSCP or size.
 */
export const LONGEST_CHECK_MS = 93_000;

/** Field of a queued job that a coordinator sets when no client follows its check any more. */
export const ABANDONED_FIELD = 'abandoned';

/** Whether a job ends early when no client follows its check any more. */
export function endsWithStream(params: Job['params']): boolean {
  const { options } = params as { readonly options?: { readonly endWithStream?: unknown } };
  return options?.endWithStream === true;
}

export const resultKinds = ['final', 'partial'] as const;
export type ResultKind = (typeof resultKinds)[number];

/** Kinds of entries in a probe's result stream: results of the probe, or the screenshot of the check. */
export const entryKinds = [...resultKinds, 'screenshot'] as const;
export type EntryKind = (typeof entryKinds)[number];

/** The fields of one entry in a probe's result stream (`XADD`); `data` is JSON. */
export interface ResultEntry {
  /** Check of the result. The probe is identified by the stream, never by the entry's content. */
  readonly check: string;
  readonly kind: EntryKind;
  readonly data: string;
  /** PNG bytes of a `screenshot` entry; absent if the screenshot failed. */
  readonly png?: Uint8Array | undefined;
}

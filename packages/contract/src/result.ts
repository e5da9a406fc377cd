import { failureSchema } from './failure.ts';
import { addressSchema, durationSchema, nullable, timestampSchema } from './formats.ts';
import { Type, type Static } from './type.ts';

export const outcomes = ['success', 'failure', 'timeout', 'error'] as const;

/** Final outcome of a probe. Excludes `pending`, the absence of an outcome. */
export type FinalOutcome = (typeof outcomes)[number];

/** Fields of the final results of all check types; `stalled` may be absent. */
export const commonResultFields = {
  result: Type.Enum([...outcomes], {
    description:
      'success: answered as the type asks; failure: answered in the negative; timeout: nothing came back in time; ' +
      'error: this probe could not run the check.',
  }),
  rt: nullable(durationSchema),
  resolvedIp: nullable(addressSchema),
  error: nullable(failureSchema),
  startedAt: nullable(timestampSchema),
  finishedAt: timestampSchema,
  stalled: Type.Optional({
    ...durationSchema,
    description:
      'Milliseconds for which the probe stood still during the check, in stalls of a second or more: its processes or its machine ' +
      'were stopped. Times may be longer by it, and packets whose answers the probe may have missed do not count. Except in ping and ' +
      'traceroute also shorter stalls, of 100 ms or more, that make up half of `rt` or more: other programs had the processors. ' +
      'Absent if there were none.',
  }),
};

const commonResult = Type.Object(commonResultFields);

export type CommonResult = Static<typeof commonResult>;

/** Result of a probe that has not answered and sent no partial field. */
export const pendingResult = { result: 'pending' } as const;

/** Limit of one result, in bytes of JSON. */
export const MAX_RESULT_BYTES = 64 * 1024;

import { Type, type Static } from '@vantage/contract';

import { wantsAllFlows } from './packet-counts.ts';

/** Most packets to the target that tell its loss from limits of its answers. */
export const MAX_SPACED_PACKETS = 10;
/** Time for a check without them. */
export const TRACE_MS = 30_000;
/** Time for them: ten packets 1.1 s apart, and the wait for the last answer. */
const SPACED_MS = 14_000;

const spacedSchema = Type.Object(
  {
    sent: Type.Integer({ minimum: 6, maximum: MAX_SPACED_PACKETS }),
    received: Type.Integer({ minimum: 0, maximum: MAX_SPACED_PACKETS, description: 'Those that the target answered.' }),
  },
  {
    additionalProperties: false,
    description:
      'Packets to the target more than a second apart, after a trace of several flows whose packets it did not all answer: a ' +
      'limit of one answer a second, as Linux has for ICMP errors, answers all of these. Absent if the trace lost less than two ' +
      'packets there, if packets or time did not suffice, and from an agent that does not send them.',
  },
);

export type SpacedCount = Static<typeof spacedSchema>;

export const spacedResults = { spaced: spacedSchema };

/** Options of a request or a job, or as the probe applies them. */
interface Asked extends Pick<Parameters<typeof wantsAllFlows>[0], 'flows'> {
  readonly isOfAllFlows?: boolean;
}

/** True if the trace has several flows. One flow sends the target few packets, and is to be quick. */
export function maySendSpaced(options: Asked): boolean {
  return options.isOfAllFlows === true || wantsAllFlows(options) || options.flows !== 1;
}

/** Time for these packets at the end of the check. */
export function spacedMs(options: Asked): number {
  return maySendSpaced(options) ? SPACED_MS : 0;
}

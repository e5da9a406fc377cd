import { durationSchema, nullable, Type, type Static } from '@vantage/contract';

import { isExtraordinary, ORDINARY_ECHO } from './header-options.ts';
import { wantsAllFlows } from './packet-counts.ts';

/** Number of packets in a group, which are sent together, and maximum number of groups. */
export const [GROUP_PACKETS, MAX_GROUPS] = [4, 10] as const;
/**
 * Longest time between packets that count as sent together, milliseconds: a rate limit of 10 answers a second allows
 * the next one only after 100 ms.
 */
export const TOGETHER_MS = 5;
/** Maximum number of packets sent to the target to tell packet loss from a rate limit of its answers. */
export const MAX_SPACED_PACKETS = GROUP_PACKETS * MAX_GROUPS;
/** Time for a check without rounds and groups, milliseconds. */
export const TRACE_MS = 30_000;
/**
 * Time for ten groups 1.1 s apart and a short wait for the last answer, milliseconds; if it is too short, fewer are
 * sent.
 */
const SPACED_MS = 14_000;

const spacedSchema = Type.Object(
  {
    sent: Type.Integer({ minimum: 1, maximum: MAX_SPACED_PACKETS }),
    received: Type.Integer({ minimum: 0, maximum: MAX_SPACED_PACKETS, description: 'Those that the target answered.' }),
    groups: Type.Array(Type.Array(nullable(durationSchema), { minItems: 1, maxItems: GROUP_PACKETS }), {
      maxItems: MAX_GROUPS,
      description:
        'Round-trip times of the packets of each group in sending order; null if no answer came. A target that limits its answers ' +
        'leaves the last ones of a group unanswered; an answer to a packet after one without shows loss.',
    }),
    reordered: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_SPACED_PACKETS,
        description:
          'Answers before that to an earlier packet of the group, which makes the order of the groups no evidence.',
      }),
    ),
    handshakes: Type.Optional(
      Type.Boolean({
        description:
          'True if the port accepted connections: limits of ICMP leave that alone. Each packet is then a SYN, half a second after ' +
          'the one before, and a group has two.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Groups of packets to the target, more than a second apart, after a trace whose packets it did not all answer, or a search ' +
      'that ended early after routers did not: they tell lost packets from limited answers. Absent if neither is so, if ' +
      'packets or time did not suffice, and from an agent that does not send them.',
  },
);

export type SpacedGroups = Static<typeof spacedSchema>;

export const spacedResults = { spaced: spacedSchema };

/** Options of a request or a job, or as the probe applies them. */
interface Asked extends Pick<Parameters<typeof wantsAllFlows>[0], 'flows'> {
  readonly isOfAllFlows?: boolean;
}

/** True if the check has extra time for these packets: not with one flow, which leaves time enough. */
export function hasSpacedTime(options: Asked): boolean {
  return options.isOfAllFlows === true || wantsAllFlows(options) || options.flows !== 1;
}

/** Extra time for the spaced groups after the trace, milliseconds; 0 if there are none. */
function spacedMs(options: Asked): number {
  return hasSpacedTime(options) ? SPACED_MS : 0;
}

/** Time that a check gets for packets after the trace, milliseconds. */
export function msAfter(options: Asked & Parameters<typeof isExtraordinary>[0]): number {
  return spacedMs(options) + (isExtraordinary(options) ? ORDINARY_ECHO.budgetMs : 0);
}

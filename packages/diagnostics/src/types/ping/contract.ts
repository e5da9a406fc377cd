import { addressesField } from '../../shared/address-fields.ts';
import {
  addressSchema,
  defineCheckType,
  durationSchema,
  familiesSchema,
  familyErrors,
  jobOverFamilies,
  nullable,
  resolutionField,
  resolutionRules,
  trafficOverFamilies,
  withOtherFamily,
  Type,
} from '@vantage/contract';

import { dscpSchema } from '../../shared/dscp.ts';
import { icmpErrorSchema } from '../../shared/icmp-contract.ts';

/** After this time a packet counts as lost, even if its reply arrives later. */
export const REPLY_TIMEOUT_MS = 4_000;

/** Maximum number of duplicates that are listed; further ones are only counted. */
export const MAX_DUPLICATE_ROWS = 16;

/**
 * Echo requests as other programs send them, for targets that are silent to packets with other options: their answer
 * proves that the target is up. `budgetMs` is the time that the check gets for them.
 */
export const ORDINARY = { count: 3, intervalMs: 500, ttl: 64, size: 56, budgetMs: 3_000 } as const;

/** True if the options let the packets differ from ordinary ones in a way that may keep them from the target. */
export function isExtraordinary({ ttl = ORDINARY.ttl, size, dscp = 0 }: ChosenPackets): boolean {
  return ttl < ORDINARY.ttl || size !== ORDINARY.size || dscp !== 0;
}

interface ChosenPackets {
  readonly ttl?: number | undefined;
  readonly size: number;
  readonly dscp?: number | undefined;
}

/** Headers of Ethernet, IPv6 and ICMP. */
const HEADER_BYTES = 62;

const count = (description: string) => Type.Integer({ minimum: 0, description });

const packetRow = Type.Object(
  {
    seq: Type.Integer({ minimum: 1, description: 'Number of the packet within the check, from 1.' }),
    rtt: nullable(durationSchema),
    ttl: nullable(
      Type.Integer({
        minimum: 0,
        maximum: 255,
        description: 'TTL or hop limit at arrival of the reply, or else of the ICMP error; null if not known.',
      }),
    ),
    from: nullable({ ...addressSchema, description: 'Who sent the reply, or else the ICMP error.' }),
    duplicate: Type.Boolean({ description: 'True for a second reply to a packet that was answered already.' }),
    icmp: Type.Optional(icmpErrorSchema('The first ICMP error that came about the packet; absent if none did.')),
  },
  { additionalProperties: false },
);

export const ping = defineCheckType({
  type: 'ping',
  title: 'Ping',
  summary: 'ICMP echo requests: whether the target answers, how fast, and how evenly.',
  hostKind: 'host',
  purpose: 'icmp',
  fields: {},
  options: {
    count: Type.Integer({ minimum: 1, maximum: 16, default: 4, description: 'Packets to send.' }),
    interval: Type.Integer({
      minimum: 200,
      maximum: 1000,
      default: 500,
      description: 'Time between two packets, milliseconds.',
    }),
    size: Type.Integer({
      minimum: 0,
      maximum: 1472,
      default: 56,
      description: 'Bytes of payload after the eight of the ICMP header. Packets are never fragmented.',
    }),
    family: Type.Optional(familiesSchema),
    ttl: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 255, description: 'TTL or hop limit of the packets; 64 if absent.' }),
    ),
    dscp: Type.Optional(dscpSchema),
    endWithStream: Type.Optional(
      Type.Boolean({
        description:
          'True to send no further packets once the last event stream of the check has been closed for some seconds. A ' +
          'check without a stream runs to its end.',
      }),
    ),
  },
  rules: resolutionRules,
  result: withOtherFamily({
    ...resolutionField,
    ...addressesField,
    rttMin: nullable(durationSchema),
    rttAvg: nullable(durationSchema),
    rttMax: nullable(durationSchema),
    rttStdDev: nullable(
      Type.Number({ minimum: 0, description: 'Standard deviation of the round-trip times, milliseconds.' }),
    ),
    jitter: nullable(
      Type.Number({
        minimum: 0,
        description: 'Mean of the absolute differences of neighbouring replies, milliseconds; null below two replies.',
      }),
    ),
    size: Type.Integer({ minimum: 0, maximum: 1472, description: 'Bytes of payload of each packet.' }),
    ttl: Type.Integer({
      minimum: 1,
      maximum: 255,
      description: 'TTL or hop limit of the packets; absent if not asked for.',
    }),
    dscp: Type.Integer({
      minimum: 0,
      maximum: 63,
      description: 'DSCP of the packets; absent if not asked for, and from an agent that does not know the option.',
    }),
    packetsEnded: Type.Enum(['stream_closed'], {
      description:
        'Why fewer packets than requested were sent: no client followed the check any more (`endWithStream`).',
    }),
    packetsLeftOut: count(
      'Packets that never left or whose reply may be unread, because the probe stood still (`stalled`), or that may not have left it because its next hop did not answer, and later ones were answered: not among those sent.',
    ),
    pingCount: count('Packets sent.'),
    pingCompleted: count('Packets that were answered in time.'),
    loss: nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'Share of the packets sent that got no reply; while the check runs, of those that are no longer awaited.',
      }),
    ),
    packets: Type.Array(packetRow, {
      maxItems: 16 + MAX_DUPLICATE_ROWS,
      description: `One row per packet, with a null rtt if it was lost, and one more per duplicate, ${MAX_DUPLICATE_ROWS} at most; while the check runs, none yet for packets that are still awaited.`,
    }),
    ordinary: Type.Object(
      {
        sent: Type.Integer({ minimum: 1, maximum: ORDINARY.count, description: 'Echo requests sent.' }),
        received: Type.Integer({ minimum: 0, maximum: ORDINARY.count, description: 'Those that were answered.' }),
      },
      {
        additionalProperties: false,
        description:
          `Echo requests with a TTL of ${ORDINARY.ttl}, ${ORDINARY.size} bytes of payload and no DSCP, sent if no packet of the check was ` +
          'answered and its `ttl`, `size` or `dscp` is another: a reply proves that the target is up. Absent if none were needed, or time did not suffice.',
      },
    ),
    clock: nullable(
      Type.Enum(['kernel', 'process'], {
        description:
          'Clock of the arrival times: `kernel` on receipt of each packet; `process` if at least one was timed ' +
          'when the probe read it; null if nothing arrived.',
      }),
    ),
    anomalies: Type.Object(
      {
        duplicates: count('Replies to packets that were answered already.'),
        late: count('Replies that came after the time for which one is awaited.'),
        reordered: count('Replies that came after the reply to a later packet.'),
        corrupted: count('Replies whose checksum or payload was not what was sent.'),
      },
      { additionalProperties: false, description: 'Anomalous replies.' },
    ),
  }),
  requiredOnSuccess: ['rttMin', 'rttAvg', 'rttMax', 'pingCount', 'pingCompleted', 'loss', 'packets'],
  needsRawSockets: true,
  traffic: ({ options }) => {
    const { count, size } = options;
    const more = isExtraordinary(options) ? ORDINARY.count : 0;
    const bytes = 2 * (count * (size + HEADER_BYTES) + more * (ORDINARY.size + HEADER_BYTES));
    return trafficOverFamilies(options, { packets: count + more, bytes });
  },
  inputRules: [({ host, options }) => familyErrors(options, host)],
  jobParams: jobOverFamilies,
  budgetMs: ({ options }) =>
    (options.count - 1) * options.interval + 5_000 + (isExtraordinary(options) ? ORDINARY.budgetMs : 0),
});

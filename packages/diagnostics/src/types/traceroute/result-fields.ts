import { addressSchema, asnSchema, durationSchema, nullable, Type, type Static } from '@vantage/contract';

import { hopStatsSchema, packetCount } from './options/round-options.ts';
import { answeredFromSchema, MAX_REPLIES, replySchema } from './reply-fields.ts';

/** Maximum number of responders that are listed per hop. */
export const MAX_RESPONDERS = 16;

/** TTL of packets that are to reach the target whatever the length of the path: the greatest there is. */
export const FULL_TTL = 255;

const rtts = Type.Array(nullable(durationSchema), {
  maxItems: 640,
  description:
    'Round-trip times in the order sent; null for a packet that nothing answered, or that a router refused on its way to a ' +
    'target that answers (`icmp`). At the target’s hop packets with higher TTLs, which went as far, count in their order too.',
});

const whoFields = {
  ip: nullable(addressSchema),
  private: Type.Boolean({
    description: 'True for an address that is not public; unless the operator shows those, `ip` is then null.',
  }),
  hostname: nullable(Type.String({ maxLength: 256, description: 'PTR name of the address, escaped.' })),
  hostnameVerified: nullable(
    Type.Boolean({
      description: 'True if `hostname` has `ip` among its own addresses; null without a name, or where time was short.',
    }),
  ),
  asn: nullable(asnSchema),
  asName: nullable(Type.String({ maxLength: 256, description: 'Name of the autonomous system.' })),
};

const mplsEntry = Type.Object(
  {
    label: Type.Integer({ minimum: 0, maximum: 1_048_575 }),
    trafficClass: Type.Integer({ minimum: 0, maximum: 7 }),
    bottomOfStack: Type.Boolean(),
    ttl: Type.Integer({ minimum: 0, maximum: 255 }),
  },
  { additionalProperties: false },
);

const nextMtu = Type.Optional(
  Type.Integer({
    minimum: 68,
    maximum: 65_535,
    description:
      'MTU of the link behind the router, as it reported when it refused a larger packet; absent if it refused none. Of a hop ' +
      'with several routers the smallest.',
  }),
);

const icmpFields = {
  type: Type.Integer({ minimum: 0, maximum: 255 }),
  code: Type.Integer({ minimum: 0, maximum: 255 }),
  mark: Type.String({ maxLength: 16, description: 'As traceroute prints it: !H, !N, !X, …' }),
  // Sender; null for a hidden private address. Absent in results of older probes.
  from: Type.Optional(nullable(addressSchema)),
  count: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 640,
      description: 'Packets that got this error of this sender; absent in results of older probes.',
    }),
  ),
};

export const hopSchema = Type.Object(
  {
    hop: Type.Integer({ minimum: 1, maximum: 64, description: 'TTL or hop limit of the packets.' }),
    ...whoFields,
    latency: nullable(durationSchema),
    rtts,
    stats: Type.Optional(hopStatsSchema),
    responders: Type.Array(Type.Object({ ...whoFields, rtts, nextMtu }, { additionalProperties: false }), {
      maxItems: MAX_RESPONDERS,
      description: 'Every router that answered for this hop; `ip` of the hop is the one that answered most.',
    }),
    nextMtu,
    replies: Type.Optional(
      Type.Array(replySchema, {
        maxItems: MAX_REPLIES,
        description: 'Different replies; absent while the trace runs, without any, and in results of older probes.',
      }),
    ),
    packets: Type.Optional(
      Type.Array(nullable(Type.Integer({ minimum: 0, maximum: 639 })), {
        maxItems: 640,
        description: 'For each of `rtts`, the index in `replies`; null for none, and if there was no room for it.',
      }),
    ),
    duplicates: Type.Optional(packetCount('Further replies to packets that were answered; absent if there were none.')),
    late: Type.Optional(
      packetCount('Packets that count as lost because the reply came after 4 s; absent if there were none.'),
    ),
    mpls: Type.Array(mplsEntry, {
      maxItems: 16,
      description: 'Label stack with which the packet reached the router (RFC 4950), outermost first.',
    }),
    icmp: nullable(
      Type.Object(icmpFields, {
        additionalProperties: false,
        description:
          'An ICMP error other than time exceeded in answer to a packet of this TTL, and who sent it (null ' +
          'where that is not shown); the path ends here unless hops beyond answered.',
      }),
    ),
  },
  { additionalProperties: false, title: 'Hop' },
);

export type Hop = Static<typeof hopSchema>;

const stopReasons = ['completed', 'hop_limit', 'gap_limit', 'unreachable', 'loop', 'deadline'] as const;

export type StopReason = (typeof stopReasons)[number];

export const stopReasonSchema = Type.Enum(stopReasons, {
  description:
    'Why the trace stopped: `completed`, the target answered at the last hop; `hop_limit`, `maxHops` was ' +
    'reached; `gap_limit`, five or more hops in a row were silent to the end; `unreachable`, an ICMP ' +
    'error ended the path; `loop`; `deadline`, time ran out or the probe was interrupted. Null without a ' +
    'trace.',
});

export const targetResults = {
  reached: Type.Boolean({
    description: 'Whether the target answered, including to packets with full TTL (`fullTtl`).',
  }),
  state: Type.Enum(['open', 'closed'], {
    description:
      'State of the port by tcp: `open` if a SYN was accepted; `closed` if the answers were resets (RST), of the host or of a ' +
      'firewall in its name. Absent if neither came, and in results of older probes.',
  }),
  answeredFrom: answeredFromSchema,
  stopReason: nullable(stopReasonSchema),
};

export const flowPathSchema = Type.Object(
  {
    reached: Type.Boolean({ description: 'Whether the target answered any packet of the flow.' }),
    stopReason: stopReasonSchema,
    hops: Type.Array(Type.Array(nullable(Type.Integer({ minimum: 0, maximum: 639 })), { maxItems: 640 }), {
      maxItems: 64,
      description:
        'For each hop from 1 on, for each packet of the flow in the order sent: the index in `responders` of ' +
        'the hop of the one that answered it, null if nothing did. An index beyond the list is a ' +
        'responder for which there was no room.',
    }),
  },
  { additionalProperties: false, title: 'FlowPath' },
);

export type FlowPath = Static<typeof flowPathSchema>;

export const fullTtlSchema = Type.Object(
  {
    rtts: Type.Array(nullable(durationSchema), {
      maxItems: 160,
      description: 'Round-trip times to the target in the order sent; null for a packet that it did not answer.',
    }),
    icmp: nullable(
      Type.Object(icmpFields, {
        additionalProperties: false,
        description: 'The ICMP error that came in answer to one of them.',
      }),
    ),
    answersOthers: Type.Optional(
      Type.Boolean({
        description:
          'Whether the target answered none of these packets and, meanwhile, another trace of this probe with the same protocol and port: it may limit its answers.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      `Packets with the full TTL (${FULL_TTL}), sent if hops are silent or \`maxHops\` ends the trace ` +
      `before the target; null if none were needed.`,
  },
);

export const echoSchema = Type.Object(
  {
    sent: Type.Integer({ minimum: 0, maximum: 640 }),
    received: Type.Integer({ minimum: 0, maximum: 640, description: 'Replies of the target.' }),
  },
  {
    additionalProperties: false,
    description:
      'The echo requests that search for the path MTU during the trace, for any protocol. Large ones may ' +
      'be lost because of their size; a reply proves that the target is up. Null if none were sent.',
  },
);

export type FullTtl = Static<typeof fullTtlSchema>;

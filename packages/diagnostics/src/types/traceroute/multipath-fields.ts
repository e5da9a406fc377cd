import { addressSchema, durationSchema, nullable, Type, type Static } from '@vantage/contract';

const MOST = 640;
const count = (description: string) => Type.Integer({ minimum: 0, maximum: MOST, description });
const index = Type.Integer({ minimum: 0, maximum: MOST });

const nodeSchema = Type.Object(
  {
    hop: Type.Integer({ minimum: 1, maximum: 64, description: 'Lowest TTL at which it was found.' }),
    kind: Type.Enum(['router', 'silent', 'target', 'refused'], {
      description:
        '`silent`: no answer behind the node before, which may be several routers; `refused`: a router that answered the packets which it was to pass on by an ICMP error.',
    }),
    ip: nullable(addressSchema),
    private: Type.Boolean({ description: 'As for hops.' }),
    balances: nullable(
      Type.Enum(['flow', 'packet', 'unknown'], {
        description:
          'How it chooses among several next hops: by `flow`, or by `packet` (so a router that answers from several addresses in turn looks too); `unknown` ' +
          'if packets or time did not suffice, or the path changed once. Null with one next hop at most. Balancing by destination alone does not show: ' +
          'all packets have the same.',
      }),
    ),
    reaches: Type.Boolean({ description: 'Whether packets that came here are known to have reached the target.' }),
    broken: Type.Optional(
      Type.Literal(true, {
        description:
          'No packet that came here got beyond, as far as answers tell: routers and target were silent to them, while the target answered others.',
      }),
    ),
  },
  { additionalProperties: false },
);

const linkSchema = Type.Object(
  {
    from: nullable(index),
    to: index,
    flows: count('Flows that took it.'),
    sent: count(
      'Packets that were to end at its far end; 0 for a link from one of several nodes behind a per-packet balancer, since which of them packets took does not show.',
    ),
    received: count('Those that were answered.'),
    rttMin: nullable(durationSchema),
    rttAvg: nullable(durationSchema),
  },
  {
    additionalProperties: false,
    description: 'Indexes in `nodes`; `from` is null for the probe. RTTs of the far end, milliseconds.',
  },
);

export const multipathSchema = Type.Object(
  {
    complete: Type.Boolean({
      description: 'False if packets, time or an interruption ended the search: paths may be missing.',
    }),
    packets: count('Packets of the trace.'),
    nodes: Type.Array(nodeSchema, { maxItems: MOST, description: 'In order of their hops.' }),
    links: Type.Array(linkSchema, {
      maxItems: 2 * MOST,
      description:
        'Links that packets took. Behind a per-packet balancer, those between hops of several nodes each are absent: nothing tells which leads to which.',
    }),
    paths: Type.Array(Type.Array(nullable(index), { maxItems: 64 }), {
      maxItems: MOST,
      description:
        'For each flow, for each hop from 1 on: the index of its node, null if unknown. A flow is taken to pass a node through which all others pass.',
    }),
  },
  { additionalProperties: false, title: 'Multipath' },
);

export type Multipath = Static<typeof multipathSchema>;

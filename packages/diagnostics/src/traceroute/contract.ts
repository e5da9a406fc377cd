import {
  addressSchema,
  asnSchema,
  defineCheckType,
  durationSchema,
  familySchema,
  nullable,
  type InputError,
  type LookUpPlace,
} from '@vantage/contract';
import { Type, type Static } from 'typebox';

import { takesTrace } from './udp-ports.ts';

/** Packets that one check may send. */
export const MAX_PACKETS = 640;

/** Responders of one hop that are listed; more would take many flows and as many paths. */
export const MAX_RESPONDERS = 16;

const DEFAULT_PORTS = { icmp: 0, udp: 33_434, tcp: 80 } as const;

const rtts = Type.Array(nullable(durationSchema), {
  maxItems: 160,
  description: 'Round-trip times in the order sent; null for a packet that nothing answered.',
});

const whoFields = {
  ip: nullable(addressSchema),
  private: Type.Boolean({
    description: 'True for an address that is not public; unless the operator shows those, `ip` is then null.',
  }),
  hostname: nullable(Type.String({ maxLength: 256, description: 'PTR name of the address, escaped.' })),
  hostnameVerified: nullable(
    Type.Boolean({
      description:
        'True where `hostname` has `ip` among its own addresses; null without a name, or where time was short.',
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

const hopSchema = Type.Object(
  {
    hop: Type.Integer({ minimum: 1, maximum: 64, description: 'TTL or hop limit of the packets.' }),
    ...whoFields,
    latency: nullable(durationSchema),
    rtts,
    responders: Type.Array(Type.Object({ ...whoFields, rtts }, { additionalProperties: false }), {
      maxItems: MAX_RESPONDERS,
      description: 'Every router that answered for this hop; `ip` of the hop is the one that answered most.',
    }),
    mpls: Type.Array(mplsEntry, {
      maxItems: 16,
      description: 'Label stack with which the packet reached the router (RFC 4950), outermost first.',
    }),
    icmp: nullable(
      Type.Object(
        {
          type: Type.Integer({ minimum: 0, maximum: 255 }),
          code: Type.Integer({ minimum: 0, maximum: 255 }),
          mark: Type.String({ maxLength: 16, description: 'As traceroute prints it: !H, !N, !X, …' }),
        },
        { additionalProperties: false, description: 'The ICMP error that ended the path here.' },
      ),
    ),
  },
  { additionalProperties: false, title: 'Hop' },
);

export type Hop = Static<typeof hopSchema>;

export const traceroute = defineCheckType({
  type: 'traceroute',
  title: 'Traceroute',
  summary: 'The path to the target, hop by hop, by packets of one flow with growing TTLs.',
  hostKind: 'host',
  purpose: 'icmp',
  fields: {},
  options: {
    protocol: Type.Enum(['icmp', 'udp', 'tcp'], {
      default: 'icmp',
      description: 'What to send: ICMP echo requests, UDP datagrams or TCP SYNs.',
    }),
    port: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65_535,
        description: 'Destination port for udp (33434 if absent) and tcp (80 if absent).',
      }),
    ),
    maxHops: Type.Integer({ minimum: 1, maximum: 64, default: 30, description: 'Highest TTL.' }),
    queries: Type.Integer({ minimum: 1, maximum: 10, default: 3, description: 'Packets per hop and flow.' }),
    flows: Type.Integer({
      minimum: 1,
      maximum: 16,
      default: 1,
      description: 'Flows to trace: load balancers send different flows over different paths.',
    }),
    family: Type.Optional(familySchema),
  },
  result: {
    hops: Type.Array(hopSchema, { maxItems: 64 }),
    reached: Type.Boolean({ description: 'Whether the target itself answered.' }),
    protocol: Type.Enum(['icmp', 'udp', 'tcp'], { description: 'What was sent.' }),
    pathMtu: nullable(
      Type.Integer({
        minimum: 68,
        maximum: 65_535,
        description:
          'Largest packet, in bytes, that reached the target or that a router said it carries; null where not learnt.',
      }),
    ),
    clock: nullable(
      Type.Enum(['kernel', 'process'], {
        description:
          'What timed the arrivals: `kernel`, when it got each packet, or for at least one of them `process`, when the probe read it; null when nothing arrived.',
      }),
    ),
    loop: nullable(
      Type.Object(
        {
          start: Type.Integer({ minimum: 1, maximum: 64, description: 'The hop at which the circle is entered.' }),
          length: Type.Integer({ minimum: 1, maximum: 32, description: 'Hops in the circle.' }),
        },
        { additionalProperties: false, description: 'The circle in which packets go round; null without one.' },
      ),
    ),
  },
  requiredOnSuccess: ['hops', 'reached', 'protocol', 'pathMtu', 'loop'],
  needsRawSockets: true,
  budgetMs: () => 30_000,
  inputErrors: ({ options }) => [...packetErrors(options), ...portErrors(options)],
  otherTargets: ({ host, options }) => {
    const { protocol } = options;
    return protocol === 'icmp' ? [] : [{ path: '/options/port', host, port: portOf(options), purpose: protocol }];
  },
  annotate: (result, lookUp) =>
    result.hops === undefined ? result : { ...result, hops: result.hops.map((hop) => annotateHop(hop, lookUp)) },
});

interface Asked {
  readonly protocol: 'icmp' | 'udp' | 'tcp';
  readonly port?: number | undefined;
}

/** The destination port; 0 for ICMP, which has none. */
export function portOf({ protocol, port = DEFAULT_PORTS[protocol] }: Asked): number {
  return protocol === 'icmp' ? 0 : port;
}

/** Why a trace does not go to a port, or undefined where it does. */
export function refusedPort(asked: Asked): string | undefined {
  const port = portOf(asked);
  if (asked.protocol !== 'udp' || takesTrace(port)) return undefined;
  return `No datagrams of a trace go to port ${port}: its protocol can be made to amplify.`;
}

function portErrors(options: Asked): InputError[] {
  const message = refusedPort(options);
  return message === undefined ? [] : [{ path: '/options/port', message }];
}

interface Counts {
  readonly maxHops: number;
  readonly queries: number;
  readonly flows: number;
}

function packetErrors({ maxHops, queries, flows }: Counts): InputError[] {
  const packets = maxHops * queries * flows;
  if (packets <= MAX_PACKETS) return [];
  const message = `maxHops × queries × flows is ${packets}; at most ${MAX_PACKETS} packets are sent.`;
  return [{ path: '/options', message }];
}

function annotateHop(hop: Hop, lookUp: LookUpPlace): Hop {
  const responders = hop.responders.map((responder) => ({ ...responder, ...network(responder.ip, lookUp) }));
  return { ...hop, ...network(hop.ip, lookUp), responders };
}

function network(ip: string | null, lookUp: LookUpPlace): Pick<Hop, 'asn' | 'asName'> {
  if (ip === null) return { asn: null, asName: null };
  const { asn, asName } = lookUp(ip);
  return { asn, asName };
}

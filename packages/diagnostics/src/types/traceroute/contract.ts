import { addressesField } from '../../shared/address-fields.ts';
import {
  allowsPayload,
  defineCheckType,
  familiesSchema,
  familyErrors,
  jobOverFamilies,
  nullable,
  trafficOverFamilies,
  Type,
  withOtherFamily,
  type InputError,
} from '@vantage/contract';

import { withNetworks } from './annotate.ts';
import { headerErrors, headerOptions, headerResults, ordinaryPackets } from './options/header-options.ts';
import { echoSchema, flowPathSchema, fullTtlSchema, hopSchema, targetResults } from './result-fields.ts';
import { mtuResults } from './options/mtu-results.ts';
import { multipathSchema } from './multipath-fields.ts';
import {
  ALL_FLOWS,
  DEFAULT_QUERIES,
  fewestFlows,
  hopsOf,
  mostPackets,
  packetErrors,
  plannedPackets,
  queriesErrors,
  wantsAllFlows,
} from './options/packet-counts.ts';
import { MAX_SPACED_PACKETS, msAfter, spacedResults, TRACE_MS } from './options/spaced-results.ts';
import { roundErrors, roundOptions, roundResults } from './options/round-options.ts';

/**
 * Maximum number of packets that one search for the path MTU sends: enough for several routers with decreasing MTUs, or
 * to find the limit of a black hole to the byte.
 */
export const MAX_MTU_PACKETS = 48;
/**
 * Maximum number of packets that test if the trace's own protocol carries full size: three that routers refuse, three
 * that vanish, and five pairs that prove it.
 */
export const MAX_FULL_SIZE_PACKETS = 16;
/**
 * Bytes that `traffic` assumes for a packet of the search for the path MTU or of full size, and at least for a packet
 * of the trace.
 */
const [MAX_MTU_BYTES, PACKET_BYTES] = [1_500, 128];
/** Maximum number of packets with the full TTL that one flow sends, without a search for all paths. */
const FULL_TTL_PACKETS = 6;

export { MAX_PACKETS } from './options/packet-counts.ts';

const DEFAULT_PORTS = { icmp: 0, udp: 33_434, tcp: 80 } as const;

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
      description: 'Packets to send: ICMP echo requests, UDP datagrams or TCP SYNs.',
    }),
    port: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65_535,
        description: 'Destination port for udp (33434 if absent) and tcp (80 if absent); not for icmp.',
      }),
    ),
    maxHops: Type.Integer({ minimum: 1, maximum: 64, default: 30, description: 'Highest TTL.' }),
    queries: Type.Integer({
      minimum: 1,
      maximum: 10,
      default: DEFAULT_QUERIES,
      description:
        'Packets per hop and flow. With `rounds` or all flows one is sent at a time: only 1 and the default are accepted.',
    }),
    flows: Type.Union([Type.Integer({ minimum: 1, maximum: 16 }), Type.Literal('all')], {
      default: 1,
      description:
        'Flows to trace: load balancers send different flows over different paths. `all` searches the paths of all flows, ' +
        'with as many as it takes, and each next hop with a confidence of 95 %. Some routers, ' +
        'Linux among them, send all ICMP to a target over one path: use `udp` or `tcp`.',
    }),
    ...roundOptions,
    family: Type.Optional(familiesSchema),
    ...headerOptions,
  },
  result: withOtherFamily({
    ...addressesField,
    ...roundResults,
    hops: Type.Array(hopSchema, { maxItems: 64 }),
    ...targetResults,
    flows: Type.Array(flowPathSchema, {
      maxItems: 16,
      description: 'The path of each flow: which router answered which packet. Links of a path are within one flow.',
    }),
    multipath: Type.Optional(multipathSchema),
    fullTtl: nullable(fullTtlSchema),
    echo: nullable(echoSchema),
    protocol: Type.Enum(['icmp', 'udp', 'tcp'], { description: 'What was sent.' }),
    port: Type.Integer({
      minimum: 1,
      maximum: 65_535,
      description:
        'Port that the packets went to; absent for icmp, while the trace runs, and in results of older probes.',
    }),
    ...headerResults,
    ...mtuResults,
    ...spacedResults,
    clock: nullable(
      Type.Enum(['kernel', 'process'], {
        description:
          'Clock of the arrival times: `kernel` on receipt of each packet; `process` if at least one was timed ' +
          'when the probe read it; null if nothing arrived.',
      }),
    ),
    loop: nullable(
      Type.Object(
        {
          start: Type.Integer({ minimum: 1, maximum: 64, description: 'The hop at which the circle is entered.' }),
          length: Type.Integer({ minimum: 1, maximum: 32, description: 'Hops in the circle.' }),
        },
        { additionalProperties: false, description: 'The routing loop; null without one.' },
      ),
    ),
  }),
  requiredOnSuccess: ['hops', 'reached', 'protocol', 'pathMtu', 'loop'],
  takesPairs: true,
  needsRawSockets: true,
  traffic: ({ options }) => {
    const { rounds = 1, size = 0 } = options;
    const flows = fewestFlows(options);
    const planned = plannedPackets(options);
    const most = mostPackets(options);
    const forMtu = planned + MAX_MTU_PACKETS <= most ? MAX_MTU_PACKETS : 0;
    const traced = wantsAllFlows(options)
      ? most - forMtu
      : Math.min(most, planned + flows * FULL_TTL_PACKETS + MAX_SPACED_PACKETS);
    const ofRounds = Math.min(hopsOf(options) * (rounds - 1), Math.max(0, most - traced - forMtu));
    const packets = traced + ofRounds;
    const isFull = options.protocol !== 'icmp' && options.size === undefined;
    const large = forMtu + (isFull ? Math.max(0, Math.min(MAX_FULL_SIZE_PACKETS, most - packets - forMtu)) : 0);
    const ordinary = ordinaryPackets(options, most - packets - large);
    const bytes = 2 * (packets * Math.max(PACKET_BYTES, size) + large * MAX_MTU_BYTES + ordinary * PACKET_BYTES);
    return trafficOverFamilies(options, { packets: packets + large + ordinary, bytes });
  },
  budgetMs: ({ options }) => TRACE_MS + (options.rounds ?? 0) * 1_000 + msAfter(options),
  inputRules: [
    ({ options }) => packetErrors(options),
    ({ options }) => queriesErrors(options),
    ({ options }) => roundErrors(options),
    ({ options }) => portErrors(options),
    ({ options }) => headerErrors(options),
    ({ host, options }) => familyErrors(options, host),
  ],
  jobParams: ({ options, ...others }) => {
    if (options.flows !== 'all') return jobOverFamilies({ ...others, options });
    const known = { ...others, options: { ...options, flows: fewestFlows(options), [ALL_FLOWS]: true } };
    return jobOverFamilies(known) ?? known;
  },
  otherTargets: ({ host, options }) => {
    const { protocol } = options;
    return protocol === 'icmp' ? [] : [{ path: '/options/port', host, port: portOf(options), purpose: protocol }];
  },
  annotate: ({ otherFamily, ...result }, lookUp) => ({
    ...withNetworks(result, lookUp),
    ...(otherFamily === undefined ? {} : { otherFamily: withNetworks(otherFamily, lookUp) }),
  }),
});

interface Asked {
  readonly protocol: 'icmp' | 'udp' | 'tcp';
  readonly port?: number | undefined;
}

/** The destination port; 0 for ICMP. */
export function portOf({ protocol, port = DEFAULT_PORTS[protocol] }: Asked): number {
  return protocol === 'icmp' ? 0 : port;
}

/** The reason why a port cannot be traced; undefined if it can. */
export function refusedPort(asked: Asked): string | undefined {
  const port = portOf(asked);
  if (asked.protocol !== 'udp' || allowsPayload(port)) return undefined;
  return `No datagrams of a trace go to port ${port}: its protocol can be made to amplify.`;
}

function portErrors(options: Asked): InputError[] {
  const { protocol, port } = options;
  const hasNone = protocol === 'icmp' && port !== undefined;
  const message = hasNone ? 'must be absent for icmp: echo requests have no ports' : refusedPort(options);
  return message === undefined ? [] : [{ path: '/options/port', message }];
}

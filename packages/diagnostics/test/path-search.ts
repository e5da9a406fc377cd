import { seeded } from '@vantage/test-support/random/seeded';
import { graphOf, PROBE, type Graph } from '../src/types/traceroute/multipath/graph.ts';
import { nextAsks } from '../src/types/traceroute/multipath/wanted/next-asks.ts';
import { addressIn } from '../src/types/traceroute/multipath/slots/slots.ts';
import { surveyOf } from '../src/types/traceroute/multipath/survey.ts';
import type { TracePacket } from '../src/types/traceroute/probing/trace.ts';
import {
  answeredPacket,
  FIRST,
  provableLinks,
  linksOf,
  routeOf,
  TARGET_NAME,
  type Network,
} from './balanced-network.ts';

const MAX_HOPS = 30;
const MAX_PACKETS = 589;
/** More hops than any modelled network has. */
const MAX_TRACED = 12;

export interface Searched {
  readonly graph: Graph;
  readonly packets: number;
  readonly flows: number;
  /** True if the search found all links that the answers prove. */
  readonly isComplete: boolean;
  /** Links that were found and do not exist. */
  readonly wrong: readonly string[];
}

/**
 * Searches a network without sockets: every packet is answered at once. The result follows from the seed.
 *
 * @param refusing share of packets that the first router behind `FIRST` refuses to pass on
 * @param rehashed number of packets after which per-flow balancers choose again for each flow
 */
export function searched(network: Network, seed: number, refusing = 0, rehashed = Number.MAX_SAFE_INTEGER): Searched {
  const random = seeded(seed);
  const [refuser] = network[FIRST]!.next;
  const refuses = (name: string): boolean => refusing > 0 && name === refuser && random() < refusing;
  const [before, after] = [routeOf(network, random, refuses), routeOf(network, random, refuses)];
  const packets: TracePacket[] = [];
  let flows = 1;
  const send = (flow: number, ttl: number): void => {
    flows = Math.max(flows, flow + 1);
    const index = packets.filter((packet) => packet.flow === flow).length;
    const route = packets.length < rehashed ? before : after;
    packets.push(answeredPacket(flow, ttl, index, route(flow, ttl)));
  };
  for (let ttl = 1; packets.at(-1)?.answer?.from !== TARGET_NAME && ttl <= MAX_TRACED; ttl += 1) send(0, ttl);
  let asks = nextAsks(packets, flows, MAX_HOPS, MAX_PACKETS);
  while (asks.length > 0 && packets.length < MAX_PACKETS) {
    for (const { flow, ttl } of asks.slice(0, MAX_PACKETS - packets.length)) send(flow, ttl);
    asks = nextAsks(packets, flows, MAX_HOPS, MAX_PACKETS);
  }
  const graph = graphOf(surveyOf(packets, flows));
  const found = new Set(
    graph.links
      .filter(({ from, isDoubtful }) => from !== PROBE && !isDoubtful)
      .map(({ from, to }) => `${from} ${addressIn(to)}`),
  );
  const exist = linksOf(network);
  return {
    graph,
    packets: packets.length,
    flows,
    isComplete: [...provableLinks(network)].every((link) => found.has(link)),
    wrong: [...found].filter((link) => !exist.has(link)),
  };
}

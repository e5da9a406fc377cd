import { roundMs } from '@vantage/contract';

import type { HopFormat } from '../hops/hops.ts';
import { isReached } from '../hops/target-answers.ts';
import type { Trace } from '../probing/trace-state.ts';
import { rttOf } from '../probing/trace.ts';
import type { Multipath } from '../multipath-fields.ts';
import { graphOf, PROBE, type Graph, type GraphNode } from './graph.ts';
import { addressIn, isEnd } from './slots/slots.ts';
import { surveyOf, type Survey } from './survey.ts';
import { provedDeadEnds } from './wanted/dead-ends.ts';

/** Describes all found paths for the result. */
export function multipathOf(trace: Trace, format: HopFormat): Multipath {
  const survey = surveyOf(trace.packets, trace.views.length);
  const graph = graphOf(survey);
  const index = new Map(graph.nodes.map(({ key }, at) => [key, at]));
  const reaching = reachingOf(graph, survey, trace);
  const shown = graph.links.filter(({ isDoubtful }) => !isDoubtful);
  const broken = new Set(provedDeadEnds(survey, trace.packets).map(({ key }) => key));
  return {
    complete: !trace.isCut && trace.isIncomplete !== true && trace.failure === null,
    packets: trace.packets.length,
    nodes: graph.nodes.map((node) => ({
      ...nodeOf(node, reaching, trace, format),
      ...(broken.has(node.key) && !reaching.has(node.key) ? { broken: true as const } : {}),
    })),
    links: shown.map(({ from, to, flows, packets }) => {
      const rtts = packets.flatMap((packet) => rttOf(packet) ?? []);
      return {
        from: from === PROBE ? null : index.get(from)!,
        to: index.get(to)!,
        flows: flows.size,
        sent: packets.length,
        received: rtts.length,
        rttMin: rtts.length === 0 ? null : roundMs(Math.min(...rtts)),
        rttAvg: rtts.length === 0 ? null : roundMs(rtts.reduce((sum, rtt) => sum + rtt, 0) / rtts.length),
      };
    }),
    paths: Array.from({ length: survey.flows }, (_, flow) => pathOf(flow, survey, graph, index)),
  };
}

function nodeOf(
  { key, seen, ttl, balances, isRefusing }: GraphNode,
  reaching: ReadonlySet<string>,
  trace: Trace,
  format: HopFormat,
): Multipath['nodes'][number] {
  const address = addressIn(seen);
  const isTarget = trace.packets.some(({ answer }) => answer?.kind === 'target' && answer.from === address);
  const end = isTarget ? 'target' : 'refused';
  return {
    hop: ttl,
    kind: address === null ? 'silent' : isEnd(seen) || isRefusing ? end : 'router',
    ip: address === null ? null : format.publicIp(address),
    private: address !== null && format.isPrivate(address),
    balances,
    reaches: reaching.has(key),
  };
}

/**
 * Keys of the nodes of the target, of nodes from which links lead there, and of nodes on the path of flows whose
 * packets it answered.
 */
function reachingOf({ nodes, links, keyAt }: Graph, { flows, lastTtl }: Survey, trace: Trace): ReadonlySet<string> {
  const { packets } = trace;
  const targets = new Set(packets.flatMap(({ answer }) => (answer?.kind === 'target' ? [answer.from] : [])));
  const reaching = new Set(
    nodes.filter(({ seen }) => isEnd(seen) && targets.has(addressIn(seen)!)).map(({ key }) => key),
  );
  if (!isReached(trace)) return reaching;
  for (const { flow, ttl, answer } of packets) {
    if (answer?.kind !== 'target' || flow >= flows) continue;
    const last = Math.min(ttl - 1, lastTtl);
    for (let hop = 1; hop <= last; hop += 1) reaching.add(keyAt(flow, hop) ?? '');
  }
  for (let size = -1; size !== reaching.size;) {
    size = reaching.size;
    for (const { from, to } of links) if (reaching.has(to)) reaching.add(from);
  }
  return reaching;
}

function pathOf(
  flow: number,
  { slots, hasEnded, lastTtl }: Survey,
  { keyAt }: Graph,
  index: ReadonlyMap<string, number>,
): (number | null)[] {
  const path: (number | null)[] = [];
  for (let ttl = 1; ttl <= lastTtl && !hasEnded(flow, ttl); ttl += 1) {
    const node = index.get(keyAt(flow, ttl) ?? '') ?? null;
    // This flow passed the node at a lower TTL; at this TTL only flows on a longer path pass it.
    if (node !== null && path.includes(node) && slots.get(flow)?.has(ttl) !== true) break;
    path.push(node);
  }
  return path.slice(0, path.findLastIndex((node) => node !== null) + 1);
}

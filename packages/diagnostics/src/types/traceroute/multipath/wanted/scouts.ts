import { FULL_TTL } from '../../result-fields.ts';
import { viewFlows, type FlowView, type TraceLimits } from '../../probing/flow-view.ts';
import { FULL_QUERIES } from '../../probing/trace-state.ts';
import { isFull, type TracePacket } from '../../probing/trace.ts';
import { surveyOf, type Ask } from '../survey.ts';
import type { Vertex } from '../vertex.ts';

/**
 * Packets to a target that no flow has reached, if the first flow has found neither end nor loop: to each hop that this
 * flow has not probed, and one with the full TTL per call, up to `FULL_QUERIES`. The latter belong to the first flow,
 * then to flows on another path, then to new ones, since all known flows may take a path that drops them. The first
 * flow that the target answers is followed hop by hop.
 */
export function scoutAsks(packets: readonly TracePacket[], flows: number, limits: TraceLimits): readonly Ask[] {
  const { firstHop, maxHops } = limits;
  const views = viewFlows(packets, flows, limits, new Set());
  const hopsOf = (flow: number): readonly Ask[] => {
    const probed = new Set(packets.flatMap((packet) => (packet.flow === flow ? [packet.ttl] : [])));
    const hops = Array.from({ length: maxHops - firstHop + 1 }, (_, index) => firstHop + index);
    return hops.filter((ttl) => !probed.has(ttl)).map((ttl) => ({ flow, ttl }));
  };
  const arrived = packets.filter(({ answer }) => answer?.kind === 'target');
  const [first] = arrived;
  if (first !== undefined)
    return arrived.every((packet) => isFull(packet) && packet.flow > 0) ? hopsOf(first.flow) : [];
  const [{ end, loop }] = views as readonly [FlowView];
  if (end !== null || loop !== null || views.some(({ reached }) => reached)) return [];
  const full = packets.filter(isFull).length;
  if (full >= FULL_QUERIES) return hopsOf(0);
  return [{ flow: full === 0 ? 0 : (flowElsewhere(packets, flows) ?? flows), ttl: FULL_TTL }, ...hopsOf(0)];
}

/** A flow that passed a router which no flow with a full-TTL packet passed; undefined if there is none. */
function flowElsewhere(packets: readonly TracePacket[], flows: number): number | undefined {
  const { slots, at } = surveyOf(packets, flows);
  const asked = new Set(packets.filter(isFull).map(({ flow }) => flow));
  const passedBy = (flow: number): readonly Vertex[] =>
    [...(slots.get(flow)?.keys() ?? [])].flatMap((ttl) => at(flow, ttl) ?? []).filter(({ kind }) => kind === 'router');
  const passed = new Set([...asked].flatMap(passedBy));
  return [...slots.keys()].find((flow) => !asked.has(flow) && passedBy(flow).some((vertex) => !passed.has(vertex)));
}

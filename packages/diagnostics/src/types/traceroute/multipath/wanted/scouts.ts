import { FULL_TTL } from '../../result-fields.ts';
import { viewFlows, type FlowView, type TraceLimits } from '../../probing/flow-view.ts';
import { FULL_QUERIES } from '../../probing/trace-state.ts';
import { isFull, type TracePacket } from '../../probing/trace.ts';
import type { Ask } from '../survey.ts';

/**
 * The last packets if no flow has reached the target and the first has found no end: to each hop that the first flow has
 * not probed, and one with the full TTL per call, up to `FULL_QUERIES`.
 */
export function scoutAsks(packets: readonly TracePacket[], flows: number, limits: TraceLimits): readonly Ask[] {
  const { firstHop, maxHops } = limits;
  const views = viewFlows(packets, flows, limits, new Set());
  const [{ end, loop }] = views as readonly [FlowView];
  if (end !== null || loop !== null || views.some(({ reached }) => reached)) return [];
  const own = packets.filter(({ flow }) => flow === 0);
  const probed = new Set(own.map(({ ttl }) => ttl));
  const hops = Array.from({ length: maxHops - firstHop + 1 }, (_, index) => firstHop + index);
  const asks = hops.filter((ttl) => !probed.has(ttl)).map((ttl) => ({ flow: 0, ttl }));
  return own.filter(isFull).length < FULL_QUERIES ? [{ flow: 0, ttl: FULL_TTL }, ...asks] : asks;
}

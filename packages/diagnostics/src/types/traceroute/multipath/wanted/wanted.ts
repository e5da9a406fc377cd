import { FULL_QUERIES, type Trace } from '../../probing/trace-state.ts';
import { isAwaited, type TracePacket } from '../../probing/trace.ts';
import { fullTtlMs } from '../../probing/waits.ts';
import type { SearchPlan } from '../in-flight.ts';
import type { Ask } from '../survey.ts';
import { nextAsks } from './next-asks.ts';
import { scoutAsks } from './scouts.ts';

/** Remaining time below which paths that seem dead are tested before further ones are searched, milliseconds. */
const DEAD_END_MS = 10_000;

/**
 * The next packets: of the search for paths, then to a target that no flow has reached; none if there is nothing left
 * to probe.
 *
 * @param isOfTarget true to probe the target first, and no path while it is silent
 * @param leftMs time that is left
 */
export function asksOf(trace: Trace, plan: SearchPlan, isOfTarget: boolean, leftMs: number): readonly Ask[] {
  const ofTarget = isOfTarget ? targetAsks(trace, plan) : [];
  if (ofTarget.length > 0) return ofTarget;
  const paths = isOfTarget && !hasArrived(trace) ? [] : pathAsks(trace, plan, leftMs);
  return paths.length > 0 ? paths : targetAsks(trace, plan);
}

/** The next packets of the search for paths; none if it is complete. */
export function pathAsks(trace: Trace, plan: SearchPlan, leftMs = Infinity): readonly Ask[] {
  const room = roomOf(trace, plan);
  const isLate = leftMs < DEAD_END_MS;
  return nextAsks(countedOf(trace), plan.flows.length, plan.maxHops, room, isLate).slice(0, room);
}

function targetAsks(trace: Trace, plan: SearchPlan): readonly Ask[] {
  return scoutAsks(countedOf(trace), plan.flows.length, plan).slice(0, roomOf(trace, plan));
}

/**
 * True if the target is silent, and the remaining time or packets are needed to probe it: a proof of its silence is
 * worth more than another path.
 */
export function isTargetDue(trace: Trace, { budgetMs, maxPackets, maxHops }: SearchPlan, leftMs: number): boolean {
  if (hasArrived(trace)) return false;
  const left = maxPackets - trace.packets.length;
  return leftMs <= Math.min(budgetMs / 2, fullTtlMs(FULL_QUERIES)) || left <= FULL_QUERIES + maxHops;
}

/** True if the silence of the target is proved as far as a search proves it: only late answers are awaited. */
export function isTargetSilent(trace: Trace, plan: SearchPlan): boolean {
  return !hasArrived(trace) && !trace.packets.some(isAwaited) && targetAsks(trace, plan).length === 0;
}

function hasArrived({ packets }: Trace): boolean {
  return packets.some(({ answer }) => answer?.kind === 'target');
}

function countedOf({ packets }: Trace): readonly TracePacket[] {
  return packets.filter(({ isLeftOut }) => isLeftOut !== true);
}

function roomOf({ packets }: Trace, { maxPackets }: SearchPlan): number {
  return Math.max(1, maxPackets - packets.length);
}

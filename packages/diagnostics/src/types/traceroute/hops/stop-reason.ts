import { GAP_LIMIT, type FlowView } from '../probing/flow-view.ts';
import type { Trace } from '../probing/trace-state.ts';
import type { StopReason } from '../result-fields.ts';
import { isFull } from '../probing/trace.ts';

/** Why no further hop of the flow was probed. */
export function stopReasonOf(flow: number, { views, packets, isCut }: Trace, maxHops: number): StopReason {
  const { end, reached, loop, lastAnswered }: FlowView = views[flow]!;
  if (end !== null) return reached ? 'completed' : 'unreachable';
  if (loop !== null) return 'loop';
  const isRefused = packets.some((one) => one.flow === flow && isFull(one) && one.answer?.kind === 'refused');
  if (isRefused && !reached) return 'unreachable';
  if (isCut) return 'deadline';
  return lastAnswered + GAP_LIMIT <= maxHops ? 'gap_limit' : 'hop_limit';
}

const order: readonly StopReason[] = ['completed', 'unreachable', 'loop', 'hop_limit', 'gap_limit', 'deadline'];

/** The reason that comes first in `order`; null without flows. */
export function furthest(reasons: readonly StopReason[]): StopReason | null {
  return order.find((reason) => reasons.includes(reason)) ?? null;
}

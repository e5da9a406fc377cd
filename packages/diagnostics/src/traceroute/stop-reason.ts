import type { Trace } from './pursue.ts';
import type { StopReason } from './result-fields.ts';
import { GAP_LIMIT, type FlowView } from './trace.ts';

/** Why no further hop of the flow was asked. */
export function stopReasonOf(
  { end, reached, loop, horizon, lastAnswered, sentAt }: FlowView,
  { failure }: Trace,
  maxHops: number,
): StopReason {
  if (end !== null) return reached ? 'completed' : 'unreachable';
  if (loop !== null) return 'loop';
  const isAsked = sentAt.slice(1, horizon + 1).every((sent) => sent > 0);
  if (failure !== null || !isAsked) return 'deadline';
  return lastAnswered + GAP_LIMIT <= maxHops ? 'gap_limit' : 'hop_limit';
}

const order: readonly StopReason[] = ['completed', 'unreachable', 'loop', 'hop_limit', 'gap_limit', 'deadline'];

/** Of several flows the one that came furthest. */
export function furthest(reasons: readonly StopReason[]): StopReason | null {
  return order.find((reason) => reasons.includes(reason)) ?? null;
}

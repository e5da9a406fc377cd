import { roundMs } from '@vantage/contract';

/**
 * The field of a result for the time in which the packet process stalled; the agent adds the time of its own stalls.
 */
export function stalledField(stalledMs = 0): { readonly stalled?: number } {
  return stalledMs > 0 ? { stalled: roundMs(stalledMs) } : {};
}

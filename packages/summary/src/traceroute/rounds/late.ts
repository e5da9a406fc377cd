import type { Trace } from '../trace.ts';

/**
 * Number of packets to a hop whose answers came after more than four seconds: they count as lost, as in ping, but
 * neither loss nor a limit of answers explains them.
 */
export function lateAt({ probeResult }: Trace, hop: number): number {
  return (probeResult.result.hops ?? []).find((one) => one.hop === hop)?.late ?? 0;
}

/** True if half or more of the packets without an answer in time may have got a late one: their sender is no silent one. */
export function isLateRather(trace: Trace, hop: number, unanswered: number): boolean {
  return 2 * lateAt(trace, hop) >= unanswered;
}

import type { Step, Trace } from '../trace.ts';

/**
 * Number of packets to a hop whose answers came after more than four seconds: they count as lost, as in ping, but
 * neither loss nor a rate limit explains them.
 */
export function lateAt({ probeResult }: Trace, hop: number): number {
  return (probeResult.result.hops ?? []).find((one) => one.hop === hop)?.late ?? 0;
}

/** The hop with its late answers as answers: they prove that no packet was lost. */
export function withLateAnswers(trace: Trace, step: Step): Step {
  const late = Math.min(lateAt(trace, step.hop), step.lost);
  return late === 0 ? step : { ...step, lost: step.lost - late };
}

/** True if half or more of the packets that count as lost may have got a late answer: then the hop is not silent. */
export function isLateRather(trace: Trace, hop: number, unanswered: number): boolean {
  return 2 * lateAt(trace, hop) >= unanswered;
}

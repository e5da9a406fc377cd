import { answersSome } from '../../answers-some.ts';
import { targetIndex, type Trace } from '../trace.ts';
import type { Span } from './alive.ts';

/**
 * True if a rate limit may explain that the target answered none of these rounds: it answered other probes in them, and
 * leaves half or more of their packets unanswered (`answersSome`), or it answered only some of the packets that were
 * sent after the trace. Under a limit that all probes share, a probe whose packets always arrive after those of others
 * may get no answer.
 */
export function mayBeStarved(trace: Trace, [start, end]: Span, all: readonly Trace[]): boolean {
  const { spaced } = trace.probeResult.result;
  if (spaced !== undefined && spaced.received > 0 && spaced.received < spaced.sent) return true;
  const others = all.filter(
    (other) => other.probeResult.probe !== trace.probeResult.probe && other.target === trace.target,
  );
  const isAnswered = (other: Trace): boolean =>
    rowOf(other)
      .slice(start, end)
      .some((rtt) => rtt !== null);
  return others.some(isAnswered) && answersSome(others.map(({ probeResult }) => probeResult));
}

/** Round-trip times at the hop of the target; empty without one. */
function rowOf(trace: Trace): readonly (number | null)[] {
  const hop = trace.steps[targetIndex(trace) ?? -1]?.hop;
  return (trace.probeResult.result.hops ?? []).find((one) => one.hop === hop)?.rtts ?? [];
}

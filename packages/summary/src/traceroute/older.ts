import { buildFinding, type FindingDraft } from '../finding.ts';
import { naming } from '../words.ts';
import type { Trace } from './trace.ts';

/** Finding: agents that ignore `rounds` traced once. Agents that know it report it with the first hop. */
export function findOlder(traces: readonly Trace[]): readonly FindingDraft[] {
  const hasRounds = ({ probeResult }: Trace): boolean => probeResult.result.rounds !== undefined;
  if (!traces.some(hasRounds)) return [];
  const older = traces.filter((trace) => trace.isFinal && !hasRounds(trace)).map(({ probeResult }) => probeResult);
  if (older.length === 0) return [];
  const text = `The agents of an earlier release do not know rounds and traced once: ${naming(older)}.`;
  return [buildFinding('probes_older', 'info', older, text)];
}

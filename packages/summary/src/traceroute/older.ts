import { buildFinding, type FindingDraft } from '../finding.ts';
import { naming } from '../words.ts';
import type { Trace } from './trace.ts';

/**
 * Options that agents of earlier releases ignore. A result with `field` is from an agent that knows the option; `text`
 * describes the behaviour of the others.
 */
const options = [
  { field: 'rounds', text: 'do not know rounds and traced once' },
  { field: 'firstHop', text: 'do not know a first hop and traced from the nearest on' },
  { field: 'size', text: 'do not know a size of packets and sent small ones' },
  { field: 'dscp', text: 'do not know DSCP and sent 0' },
  { field: 'sourcePort', text: 'do not know a source port and took others' },
  { field: 'multipath', text: 'do not search the paths of all flows and traced some' },
] as const;

/** Findings: final results without the field of an option that other results have. */
export function findOlder(traces: readonly Trace[]): readonly FindingDraft[] {
  return options.flatMap(({ field, text }) => {
    const isKnown = ({ probeResult }: Trace): boolean => probeResult.result[field] !== undefined;
    if (!traces.some(isKnown)) return [];
    const older = traces.filter((trace) => trace.isFinal && !isKnown(trace)).map(({ probeResult }) => probeResult);
    if (older.length === 0) return [];
    return [buildFinding('probes_older', 'info', older, `The agents of an earlier release ${text}: ${naming(older)}.`)];
  });
}

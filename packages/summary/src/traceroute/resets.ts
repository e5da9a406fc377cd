import { buildFinding, type FindingDraft } from '../finding.ts';
import type { SparseResultOf } from '../probe-result.ts';
import { naming } from '../words.ts';
import { probeResults } from './end-reason.ts';
import type { Trace } from './trace.ts';

/**
 * True if only resets answered the SYNs of a trace, and nothing its echo requests: a firewall may have sent them with
 * the address of a target that is down.
 */
export function isResetAlone({ state, echo }: SparseResultOf<'traceroute'>): boolean {
  return state === 'closed' && (echo?.received ?? 0) === 0;
}

/** Findings: the port of a trace by tcp is closed. */
export function findResets(traces: readonly Trace[]): readonly FindingDraft[] {
  const closed = traces.filter(({ isFinal, probeResult: { result } }) => isFinal && result.state === 'closed');
  if (closed.length === 0) return [];
  const alone = closed.filter(({ probeResult: { result } }) => isResetAlone(result));
  const doubt =
    alone.length === 0
      ? ''
      : ` No echo request of ${naming(probeResults(alone))} was answered: a firewall, and not the target, may be the end of the path.`;
  const port = closed.flatMap(({ probeResult: { result } }) => result.port ?? []).at(0);
  const where = port === undefined ? '' : ` to port ${port}`;
  const text = `Resets (RST) answer the SYNs of ${naming(probeResults(closed))}${where}: the port is closed, or a firewall refuses connections in the name of the target.${doubt}`;
  return [buildFinding('port_closed', 'info', probeResults(closed), text)];
}

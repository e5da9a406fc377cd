import { buildFinding, type FindingDraft } from '../../finding.ts';
import { listed, naming, unique } from '../../words.ts';
import { lastAnswer } from '../end-reason.ts';
import type { Trace } from '../trace.ts';

/**
 * True if the target answered no packet of the size that the request has chosen, and echo requests of that size or less
 * vanish, too.
 */
export function isCutBySize({ probeResult: { result }, isReached }: Trace): boolean {
  const { size, mtuBlackHole } = result;
  return !isReached && typeof size === 'number' && typeof mtuBlackHole === 'number' && size >= mtuBlackHole;
}

/** Finding: the packets of the trace seem larger than those that the path carries; small ones are answered. */
export function findSizeCuts(traces: readonly Trace[]): readonly FindingDraft[] {
  const cut = traces.filter(isCutBySize);
  if (cut.length === 0) return [];
  const { size, protocol = 'icmp' } = cut[0]!.probeResult.result;
  const packets = `${protocol.toUpperCase()} packets of ${size!.toLocaleString('en')} bytes`;
  const holes = listed(unique(cut.map(({ probeResult }) => String(probeResult.result.mtuBlackHole))));
  const last = [...new Set(cut.flatMap((trace) => lastAnswer(trace)?.hop ?? []))].toSorted((a, b) => a - b);
  const beyond = last.length === 0 ? '' : ` from beyond hop ${listed(last.map(String))}`;
  const results = cut.map(({ probeResult }) => probeResult);
  const text = `The ${packets} of the trace get no answer${beyond}, and echo requests of ${naming(results)} vanish from ${holes} bytes on, while smaller ones are answered: the path${protocol === 'icmp' ? ', or the way back of the answers,' : ''} does not seem to carry the \`size\` of the request.`;
  return [
    buildFinding('path_cut', 'warning', results, text, `packets of ${size!.toLocaleString('en')} bytes get no answer`),
  ];
}

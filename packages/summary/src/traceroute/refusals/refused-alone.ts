import { answersEchoAlone } from '../../partition.ts';
import { naming } from '../../words.ts';
import { chosenText } from '../steps/chosen-packets.ts';
import type { Trace } from '../trace.ts';

/**
 * Sentence: the target is up, since it answers echo requests of probes whose packets were refused; empty if it answers
 * none.
 */
export function echoText(refused: readonly Trace[]): string {
  const answered = refused.filter(({ probeResult }) => answersEchoAlone(probeResult.result));
  if (answered.length === 0) return '';
  const { protocol = 'icmp', ordinary } = answered[0]!.probeResult.result;
  const others = protocol === 'icmp' ? 'other ' : '';
  const which = ordinary === undefined ? others : 'ordinary ';
  const who = answered.length === refused.length ? '' : ` of ${naming(answered.map(({ probeResult }) => probeResult))}`;
  return ` The target answers ${which}echo requests${who}: it is up, and packets of the trace alone are refused.`;
}

/** Clause for the headline; it names the packets if the target answers others. */
export function endText({ probeResult: { result } }: Trace, where: string): string {
  if (!answersEchoAlone(result)) return `the path ends at ${where}`;
  return `${where} refuses ${(result.protocol ?? 'icmp').toUpperCase()} packets${chosenText(result)}`;
}

import { answersEchoAlone } from '../../partition.ts';
import { naming } from '../../words.ts';
import { chosenText } from '../steps/chosen-packets.ts';
import type { Trace } from '../trace.ts';

interface Refused {
  readonly trace: Trace;
  /** True if a load balancer or NAT may answer echo requests in place of a server that is away. */
  readonly isUndelivered: boolean;
}

/** Sentence: the target answers echo requests of probes whose packets were refused; empty if it answers none. */
export function echoText(refused: readonly Refused[]): string {
  const answered = refused.filter(({ trace }) => answersEchoAlone(trace.probeResult.result));
  if (answered.length === 0) return '';
  const [{ isUndelivered, trace }] = answered as [Refused];
  const { protocol = 'icmp', ordinary } = trace.probeResult.result;
  const others = protocol === 'icmp' ? 'other ' : '';
  const which = ordinary === undefined ? others : 'ordinary ';
  const who = answered.length === refused.length ? '' : ` of ${naming(answered.map((one) => one.trace.probeResult))}`;
  const up = isUndelivered ? 'something there is up' : 'it is up';
  return ` The target answers ${which}echo requests${who}: ${up}, and packets like those of the trace are refused.`;
}

/** Clause for the headline; it names the packets if the target answers others. */
export function endText({ probeResult: { result } }: Trace, where: string): string {
  if (!answersEchoAlone(result)) return `the path ends at ${where}`;
  return `${where} refuses ${(result.protocol ?? 'icmp').toUpperCase()} packets${chosenText(result)}`;
}

import { answersEchoAlone, goesRound, isRefused } from '../partition.ts';
import type { ProbeResult, SparseResultOf } from '../probe-result.ts';
import { isResetAlone } from '../traceroute/resets.ts';
import { chosenText } from '../traceroute/steps/chosen-packets.ts';

type TraceResult = ProbeResult<SparseResultOf<'traceroute'>>;

export function reachedText(host: string, up: readonly TraceResult[]): string {
  const who = up.every(({ result }) => isResetAlone(result)) ? `${host}, or a firewall in its name,` : host;
  return `${who} ${up.every(isReachedByEcho) ? 'answers echo requests' : 'is reached'}`;
}

export function unreachedText(host: string, down: readonly TraceResult[]): string {
  if (down.some(isRefusedTrace)) return `${host} does not accept traces`;
  return down.every(isSilentTrace)
    ? `${host} does not answer traces${chosenText(down[0]!.result)}`
    : `${host} is not reached`;
}

/**
 * True if the packets of a trace ran into a routing loop or were refused, and the target answered its echo requests.
 */
function isReachedByEcho({ result }: TraceResult): boolean {
  return answersEchoAlone(result) && (goesRound(result) || isRefused(result));
}

/** True if the packets arrived, and the target itself answers them with an ICMP error. */
function isRefusedTrace({ result: { reached, error } }: TraceResult): boolean {
  return reached === true && error?.source === 'target';
}

/**
 * True if the packets may have reached the target: nothing that ends the path was seen, neither a loop nor an ICMP
 * error.
 */
function isSilentTrace({ result: { error, loop } }: TraceResult): boolean {
  return error?.code === 'timed_out' && (loop === null || loop === undefined);
}

import { isIPv6 } from 'node:net';

import { icmpFailure, isOfProbe } from '../../../sockets/icmp/icmp-failure.ts';
import { interrupted, unlessAborted } from '../../../sockets/provide-packets.ts';
import type { Asked } from './answer-kind.ts';
import type { Trace } from './trace-state.ts';

export interface OwnAddress {
  /** Source address at the start. */
  readonly source: string;
  /** False for packets that any source address may send: echo requests over IPv4. */
  readonly isBound: boolean;
  /** Resolves with the current one. */
  readonly caughtUp: () => Promise<string>;
}

/**
 * Ends a trace as interrupted if the target does not answer its last packets and the probe has another source address
 * now: packets are made for the address at the start, and with another one their checksums are wrong, or no answer comes
 * back.
 */
export async function noteNewAddress(
  trace: Trace,
  { source, isBound, caughtUp }: OwnAddress,
  signal: AbortSignal,
): Promise<void> {
  const isAnswered = trace.views.every(({ atEnd }) => atEnd.at(-1)?.answer?.kind === 'target');
  if (!isBound || trace.failure !== null || isAnswered) return;
  const now = await unlessAborted(caughtUp(), signal).catch(() => null);
  if (now === null || now === source) return;
  trace.failure = interrupted('The probe’s own address to the target changed during the trace.');
}

/**
 * Ends a trace whose target stopped answering on all flows because packets no longer leave the probe: its next hop does
 * not answer ARP or neighbour discovery.
 */
export function noteUnsent(trace: Trace, { destination, protocol }: Asked): void {
  const lastAnswered = trace.packets.findLastIndex(({ answer }) => answer?.kind === 'target');
  if (trace.failure !== null || lastAnswered === -1) return;
  const later = trace.packets.slice(lastAnswered + 1);
  const errors = later.flatMap(({ answer }) => (answer?.error ? { ...answer, error: answer.error } : []));
  const own = errors.findLast((answer) => isOfProbe(answer));
  if (own === undefined) return;
  const failure = icmpFailure(
    isIPv6(destination) ? 6 : 4,
    own,
    own.from,
    destination,
    protocol === 'icmp' ? 'icmp' : 'udp',
  );
  if (failure.source === 'probe' && failure.code === 'host_unreachable') trace.failure = failure;
}

import type { Target } from '@vantage/contract';

import { clockTimer, probeClock } from '../../../sockets/clock/probe-clock.ts';
import type { PacketSockets } from '../../../sockets/packet-socket.ts';
import { traceFlow } from './flow.ts';
import type { Trace } from './trace-state.ts';

export const ECHO_REQUESTS = 3;
const WAIT_MS = 1_000;

/** A sender that refused the port with another address than the target's, and the hop at which it did. */
export interface Refuser {
  readonly address: string;
  readonly hop: number;
}

/**
 * The sender that refused the port with an address other than the target's; undefined without one, if the target itself
 * answered any datagram, or if the hop is not known.
 */
export function foreignRefuser({ packets, views }: Trace, destination: string): Refuser | undefined {
  const answers = packets.flatMap(({ flow, answer }) => (answer?.kind === 'target' ? [{ flow, answer }] : []));
  const [first] = answers;
  const hop = first === undefined ? null : views[first.flow]!.end;
  if (first === undefined || hop === null || answers.some(({ answer }) => answer.from === destination))
    return undefined;
  return { address: first.answer.from, hop };
}

/**
 * True if the sender of the refusal is a packet filter on the path: it answers echo requests to the target, with a TTL
 * that ends at its hop, by time exceeded or another ICMP error. A host with several addresses answers them itself or
 * not at all.
 */
export async function isFilter(
  { address, hop }: Refuser,
  { family, address: destination }: Target,
  packets: PacketSockets,
  { tag, dscp }: { readonly tag: string; readonly dscp: number | undefined },
  signal: AbortSignal,
): Promise<boolean> {
  const socket = await packets.open({ family, protocol: 'icmp' });
  const clock = probeClock();
  let stop = (): void => undefined;
  try {
    return await new Promise((resolve) => {
      const end = (): void => resolve(false);
      const stopTimer = clockTimer(clock, end, WAIT_MS);
      signal.addEventListener('abort', end);
      stop = () => {
        stopTimer();
        signal.removeEventListener('abort', end);
      };
      const own = {
        protocol: 'icmp',
        family,
        identifier: socket.identifier,
        source: '',
        destination,
        port: 0,
      } as const;
      const flow = traceFlow({ ...own, tag });
      socket.onLost(end);
      socket.onPacket((received) => {
        const match = flow.match(received);
        if (match !== undefined) resolve(match.error !== null && received.from === address);
      });
      for (let index = 0; index < ECHO_REQUESTS; index += 1) {
        clock.owed(socket.send(flow.packet(index), destination, hop, { dscp })).catch(end);
      }
      if (signal.aborted) end();
    });
  } finally {
    stop();
    clock.stop();
    socket.close();
  }
}

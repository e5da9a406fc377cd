import type { Target } from '@vantage/contract';

import type { DiagnosticContext } from '../../../diagnostic.ts';
import type { PacketSockets } from '../../../sockets/packet-socket.ts';
import { ORDINARY_ECHO } from '../options/header-options.ts';
import { attemptsOver } from './attempts.ts';
import type { EchoCount } from './path-mtu.ts';
import { tryBytes } from './try-bytes.ts';
import { sharedSocket } from './try-packet.ts';

/** Bytes with the IP header of an echo request with 56 bytes of payload. */
const BYTES = { 4: 84, 6: 104 } as const;
const WAIT_MS = 1_000;

/**
 * Sends echo requests as other programs send them, without the DSCP and size of the trace, until one is answered; null
 * if none could be sent.
 */
export async function ordinaryEcho(
  target: Pick<Target, 'family' | 'address'>,
  packets: PacketSockets,
  { signal, remainingMs }: Pick<DiagnosticContext, 'signal' | 'remainingMs'>,
): Promise<EchoCount | null> {
  const echo: EchoCount = { sent: 0, received: 0 };
  try {
    const opened = await packets.open({ family: target.family, protocol: 'icmp' });
    const socket = sharedSocket(opened, {}, new Map(), () => packets.sourceFor(target.address));
    try {
      const limits = { maxPackets: ORDINARY_ECHO.count, waitMs: () => WAIT_MS, proofMs: () => WAIT_MS };
      const attempt = attemptsOver(
        socket,
        limits,
        (sequence, bytes, waitMs) => tryBytes(socket, target, sequence, bytes, waitMs, signal),
        { signal, remainingMs },
        ({ kind }) => {
          if (kind !== 'unsent') echo.sent += 1;
          if (kind === 'arrived') echo.received += 1;
        },
      );
      await attempt(BYTES[target.family], ORDINARY_ECHO.count);
    } finally {
      socket.close();
    }
  } catch {
    // The socket did not open, or the packet process ended.
  }
  return echo.sent === 0 ? null : echo;
}

import type { Failure, Target } from '@vantage/contract';

import type { DiagnosticContext } from '../diagnostic.ts';
import { icmpFailure } from '../sockets/icmp-failure.ts';
import { addressBytes, addressText } from '../sockets/wire/address.ts';
import { readU16 } from '../sockets/wire/bytes.ts';
import { parseIcmp } from '../sockets/wire/icmp.ts';
import { IPPROTO } from '../sockets/wire/ip.ts';

/** An ICMP error about one of our datagrams, as a result shows it. */
export interface IcmpNotice {
  readonly type: number;
  readonly code: number;
  /** `null` where only the kernel's errno is known, and for a sender that is masked. */
  readonly from: string | null;
  readonly private?: true;
}

/** What the watch needs of the context of a diagnostic. */
export type IcmpContext = Pick<DiagnosticContext, 'packets' | 'isPrivateAddress' | 'showPrivateAddresses'>;

export interface Watched {
  readonly context: IcmpContext;
  readonly target: Target;
  readonly port: number;
  readonly localPort: number;
}

/**
 * Calls back for each ICMP error that quotes a datagram from the local port to the target, as far as the probe has raw
 * sockets. The kernel keeps most of them from a UDP socket (`udp_err` of Linux reports the fatal ones only).
 *
 * @returns stops watching
 */
export async function watchIcmp(
  { context, target, port, localPort }: Watched,
  onNotice: (failure: Failure, notice: IcmpNotice) => void,
): Promise<() => void> {
  const { packets } = context;
  if ('unavailable' in packets) return () => undefined;
  const { family } = target;
  const socket = await packets.open({ family, protocol: 'udp', identifier: localPort }).catch(() => null);
  if (socket === null) return () => undefined;
  const destination = addressText(addressBytes(target.address));
  socket.onPacket(({ protocol, data, from }) => {
    const message = protocol === 'icmp' ? parseIcmp(family, data) : undefined;
    if (message === undefined || message.kind === 'echo-reply' || !message.intact) return;
    const { quoted, type, code } = message;
    const isOurs =
      quoted.protocol === IPPROTO.udp &&
      quoted.destination === destination &&
      quoted.payload.length >= 4 &&
      readU16(quoted.payload, 0) === localPort &&
      readU16(quoted.payload, 2) === port;
    if (!isOurs) return;
    const isMasked = from !== destination && context.isPrivateAddress(from) && !context.showPrivateAddresses;
    const sender = isMasked ? null : from;
    const notice = { type, code, from: sender, ...(isMasked ? { private: true as const } : {}) };
    onNotice(icmpFailure(family, message, sender, destination), notice);
  });
  socket.onLost(() => undefined);
  return () => socket.close();
}

/** What ECONNREFUSED of a connected socket says: one ICMP error, of an unknown sender. */
export function portUnreachable({ family }: Target): { readonly failure: Failure; readonly notice: IcmpNotice } {
  const [type, code] = family === 4 ? [3, 3] : [1, 4];
  const message = `Nothing listens on the port (ICMP type ${type} code ${code}).`;
  return {
    failure: { code: 'port_unreachable', phase: 'response', source: 'target', message },
    notice: { type, code, from: null },
  };
}

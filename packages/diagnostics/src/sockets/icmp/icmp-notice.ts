import type { Failure, Target } from '@vantage/contract';

import type { IcmpNotice } from '../../shared/icmp-contract.ts';
import { icmpFailure, isOfProbe } from './icmp-failure.ts';
import { publicIp, type AddressPrivacy } from '../provide-packets.ts';
import type { PacketProtocol } from '../packet-socket.ts';
import type { IcmpError } from '../wire/icmp.ts';

/** An ICMP error about a packet of the check, with its sender. */
export interface ReceivedIcmp {
  readonly error: IcmpError;
  readonly from: string;
}

/**
 * The error as a result shows it; the sender only if a client may see it.
 *
 * @param protocol of the packets that were sent
 */
export function icmpNotice(
  { error, from }: ReceivedIcmp,
  target: Target,
  context: AddressPrivacy,
  protocol: PacketProtocol,
): { readonly failure: Failure; readonly notice: IcmpNotice } {
  const sender = publicIp(from, target, context);
  const { type, code } = error;
  return {
    failure: icmpFailure(target.family, { error, from }, sender, target.address, protocol),
    notice: {
      type,
      code,
      from: sender,
      ...(sender === null ? { private: true } : {}),
      ...(isOfProbe({ error, from }) ? { own: true } : {}),
    },
  };
}

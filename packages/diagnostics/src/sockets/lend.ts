import type { Failure, Target } from '@vantage/contract';

import { classifyError } from '../classify.ts';
import type { DiagnosticContext } from '../diagnostic.ts';
import type { PacketSocket, PacketSocketOptions, PacketSockets } from './packet-socket.ts';
import { isPrivilegeError } from './privilege.ts';

/** Opens a packet socket, or says in a failure why this probe cannot. */
export async function openPackets(
  packets: PacketSockets | { readonly unavailable: string },
  options: PacketSocketOptions,
): Promise<{ readonly socket: PacketSocket } | { readonly failure: Failure }> {
  if ('unavailable' in packets) return { failure: capabilityMissing(packets.unavailable) };
  try {
    return { socket: await packets.open(options) };
  } catch (error) {
    const reason = Error.isError(error) ? error.message : 'unknown';
    return { failure: isPrivilegeError(error) ? capabilityMissing(reason) : classifyError(error, 'exec') };
  }
}

/** The address of a hop or an ICMP sender as a caller may see it: null where it is private and the operator hides those. */
export function shownAddress(
  address: string,
  target: Target,
  { showPrivateAddresses, isPrivateAddress }: Pick<DiagnosticContext, 'showPrivateAddresses' | 'isPrivateAddress'>,
): string | null {
  const isHidden = !showPrivateAddresses && address !== target.address && isPrivateAddress(address);
  return isHidden ? null : address;
}

/** The failure of a probe that has no raw sockets. */
export function capabilityMissing(reason: string): Failure {
  const message = `This probe cannot send raw packets. ${reason}`;
  return { code: 'capability_missing', phase: 'exec', source: 'probe', message };
}

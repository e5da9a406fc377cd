import type { Failure, Target } from '@vantage/contract';

import { classifyError } from '../shared/classify-error.ts';
import type { Clock, PacketSocket, PacketSocketOptions, PacketSockets } from './packet-socket.ts';
import { errnoOf } from './errno.ts';
import { isPacketProcessLost, isPrivilegeError, privilegeText } from './privilege.ts';

/**
 * Opens a packet socket, or returns a failure with the reason.
 *
 * @param signal aborts the wait for a packet process; a socket that opens later is closed
 */
export async function openPackets(
  packets: PacketSockets | { readonly unavailable: string },
  options: PacketSocketOptions,
  signal?: AbortSignal,
): Promise<{ readonly socket: PacketSocket } | { readonly failure: Failure }> {
  if ('unavailable' in packets) return { failure: capabilityMissing(packets.unavailable) };
  try {
    const opening = packets.open(options);
    const socket = signal === undefined ? await opening : await unlessAborted(opening, signal);
    if (socket !== null) return { socket };
    opening.then(
      (late) => late.close(),
      () => undefined,
    );
    return { failure: interrupted('The packet process did not answer before the end of the check.') };
  } catch (error) {
    if (isPacketProcessLost(error)) {
      const message = `The packet process ended as the check began, and does not run again yet. ${privilegeText(error)}`;
      return { failure: interrupted(message) };
    }
    if (options.identifier !== undefined && errnoOf(error) === 'EADDRINUSE') {
      const message = `The source port ${options.identifier} is in use at this probe.`;
      return { failure: { code: 'probe_busy', phase: 'exec', source: 'probe', message } };
    }
    return {
      failure: isPrivilegeError(error) ? capabilityMissing(privilegeText(error)) : classifyError(error, 'exec'),
    };
  }
}

/** The failure of a check that the probe itself could not continue. */
export function interrupted(message: string): Failure {
  return { code: 'probe_interrupted', phase: 'exec', source: 'probe', message };
}

/** The failure of a check whose packet process ended. */
export function lostFailure(error: Error): Failure {
  return interrupted(`The check could not go on. ${privilegeText(error)}`);
}

/** Message of the failure of a check that could not end in time because the probe was stalled. */
export const STOOD_STILL = 'The probe stood still during the check, which had no time left to end.';

/** Resolves with null if the signal aborts first. */
export async function unlessAborted<T>(waited: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const { promise: aborted, resolve } = Promise.withResolvers<null>();
  const onAbort = (): void => resolve(null);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([waited, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Determines which addresses of hops and ICMP senders appear in results. */
export interface AddressPrivacy {
  /** True if the operator allows private addresses of hops and ICMP senders in results. */
  readonly showPrivateAddresses: boolean;
  /** True for a special-purpose address that the operator does not allow as a target. */
  readonly isPrivateAddress: (address: string) => boolean;
}

/**
 * The public form of a hop's or ICMP sender's address: null if it is private, is not the target's, and the operator
 * hides private addresses.
 */
export function publicIp(
  address: string,
  target: Target,
  { showPrivateAddresses, isPrivateAddress }: AddressPrivacy,
): string | null {
  const isHidden = !showPrivateAddresses && address !== target.address && isPrivateAddress(address);
  return isHidden ? null : address;
}

/** The least exact clock of the arrivals; null without any. */
export function worstClock(clocks: readonly Clock[]): Clock | null {
  if (clocks.length === 0) return null;
  return clocks.includes('process') ? 'process' : 'kernel';
}

/** The failure of a probe that has no raw sockets. */
export function capabilityMissing(reason: string): Failure {
  const message = `This probe cannot send raw packets. ${reason}`;
  return { code: 'capability_missing', phase: 'exec', source: 'probe', message };
}

import type { Failure, Target } from '@vantage/contract';

import type { IcmpNotice } from '../../shared/icmp-contract.ts';
import { icmpNotice } from './icmp-notice.ts';
import { addressBytes, addressText } from '@vantage/contract/address';
import type { AddressPrivacy } from '../provide-packets.ts';
import type { PacketSockets } from '../packet-socket.ts';
import { readU16 } from '../wire/bytes.ts';
import { parseIcmp, type IcmpError } from '../wire/icmp.ts';
import { IPPROTO } from '../wire/ip.ts';

/** The subset of a diagnostic's context that the watch uses. */
export interface IcmpContext extends AddressPrivacy {
  /** Raw sockets, or why this probe has none. */
  readonly packets: PacketSockets | { readonly unavailable: string };
}

export interface Watched {
  readonly context: IcmpContext;
  readonly target: Target;
  readonly protocol: 'tcp' | 'udp';
  readonly port: number;
  readonly localPort: number;
  /**
   * Errors that arrived in this many milliseconds before the watch count too, as far as the packet process has kept
   * them.
   */
  readonly recallMs?: number | undefined;
}

export interface HeardIcmp {
  readonly failure: Failure;
  readonly notice: IcmpNotice;
}

export interface IcmpWatch {
  readonly stop: () => void;
  /** True if unread errors may have arrived in the recalled time. */
  readonly isRecallPartial: boolean;
}

/**
 * Calls back for each intact ICMP error that quotes a packet from the local port to the port of the target; for TCP not
 * for `too-big`, after which the kernel sends smaller packets. Without IP_RECVERR, which Node lacks, a UDP socket
 * reports only fatal errors (`udp_err` of Linux), and no socket reports the sender. Recalled errors are reported before
 * the promise resolves.
 *
 * @returns null if the probe cannot read ICMP errors
 */
export async function watchIcmp(
  { context, target, protocol, port, localPort, recallMs = 0 }: Watched,
  onHeard: (heard: HeardIcmp) => void,
): Promise<IcmpWatch | null> {
  const { packets } = context;
  if ('unavailable' in packets) return null;
  const { family } = target;
  const options = { family, protocol, identifier: localPort, errorsOnly: { recallMs } };
  const socket = await packets.open(options).catch(() => null);
  if (socket === null) return null;
  const destination = addressText(addressBytes(target.address.replace(/%.*$/, '')));
  const isOurs = ({ quoted, intact }: IcmpError): boolean =>
    intact &&
    quoted.protocol === IPPROTO[protocol] &&
    quoted.destination === destination &&
    quoted.payload.length >= 4 &&
    readU16(quoted.payload, 0) === localPort &&
    readU16(quoted.payload, 2) === port;
  socket.onPacket((packet) => {
    const message = packet.protocol === 'icmp' ? parseIcmp(family, packet.data) : undefined;
    if (message === undefined || message.kind === 'echo-reply' || !isOurs(message)) return;
    // Path MTU discovery: the kernel sends smaller packets and the connection continues.
    if (message.kind === 'too-big' && protocol === 'tcp') return;
    onHeard(icmpNotice({ error: message, from: packet.from }, target, context, protocol));
  });
  socket.onLost(() => undefined);
  return { stop: () => socket.close(), isRecallPartial: socket.isRecallPartial ?? false };
}

/**
 * The first ICMP error about a packet already sent; `undefined` if an unread one may have arrived, `null` without one.
 */
export async function recallIcmp(watched: Watched): Promise<HeardIcmp | null | undefined> {
  let first: HeardIcmp | null = null;
  const watch = await watchIcmp(watched, (heard) => (first ??= heard));
  watch?.stop();
  const isUnread = watch === null || watch.isRecallPartial;
  return first ?? (isUnread ? undefined : null);
}

/** A response within this time needs no watch. */
const WATCH_AFTER_MS = 30;

export interface SilenceWatch {
  readonly stop: () => void;
  /** True once it is known that the probe may have missed an ICMP error about the packet. */
  readonly isUnread: () => boolean;
}

/**
 * Watches a packet that has just been sent, but only from `WATCH_AFTER_MS` on, so that an answer before costs nothing.
 * Errors that arrived earlier are recalled, as far as the packet process has kept them.
 */
export function watchIcmpIfSilent(
  watched: Omit<Watched, 'recallMs'>,
  onHeard: (heard: HeardIcmp) => void,
): SilenceWatch {
  const startedMs = performance.now();
  let isOver = false;
  let isUnread = false;
  let watch: IcmpWatch | null = null;
  const begin = async (): Promise<void> => {
    const started = await watchIcmp({ ...watched, recallMs: recallSince(startedMs) }, (heard) => {
      if (!isOver) onHeard(heard);
    });
    isUnread = started === null || started.isRecallPartial;
    if (isOver) started?.stop();
    else watch = started;
  };
  const timer = setTimeout(() => void begin(), WATCH_AFTER_MS);
  return {
    isUnread: () => isUnread,
    stop: () => {
      isOver = true;
      clearTimeout(timer);
      watch?.stop();
    },
  };
}

/** Time for which earlier ICMP errors are reported, milliseconds: since `startedMs`. */
export function recallSince(startedMs: number): number {
  return performance.now() - startedMs;
}

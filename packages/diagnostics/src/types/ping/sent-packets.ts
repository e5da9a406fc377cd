import type { Failure, Target } from '@vantage/contract';

import type { ReceivedIcmp } from '../../sockets/icmp/icmp-notice.ts';
import type { Clock } from '../../sockets/packet-socket.ts';
import { readU16 } from '../../sockets/wire/bytes.ts';
import { echoRequest, type IcmpError } from '../../sockets/wire/icmp.ts';
import { unsentFailure } from '../../sockets/unsent.ts';
import { REPLY_TIMEOUT_MS } from './contract.ts';
import { quotesPayload } from './payload.ts';

export interface SessionPlan {
  readonly target: Target;
  readonly count: number;
  readonly intervalMs: number;
  readonly ttl: number;
  readonly dscp: number | undefined;
  readonly payload: Uint8Array;
  /** Sequence number of the first packet on the wire. */
  readonly firstSequence: number;
  /** Once aborted, no further packets are sent. */
  readonly abandoned?: AbortSignal | undefined;
  /** Total time, milliseconds. */
  readonly budgetMs: number;
  /** Resolves when the packet process has forwarded what it had received. */
  readonly caughtUp: () => Promise<unknown>;
}

export interface Reply {
  readonly receivedMs: number;
  readonly clock: Clock;
  readonly hopLimit: number | null;
  readonly from: string;
}

/**
 * A packet of the check with its replies. `awaitedMs` and `icmp.readMs` are by the `ProbeClock` of the check; `sentMs`
 * and the times of replies are those of the packet process.
 */
export interface SentPacket {
  /** Number within the check, from 1. */
  readonly seq: number;
  /** Start of the wait for a reply: when the sending was reported, or before that, requested. */
  awaitedMs: number;
  /** Null until the packet process reports the send time. */
  sentMs: number | null;
  /** In the order of arrival: of those in time, the first is the answer, and the rest are duplicates. */
  readonly replies: Reply[];
  /** Number of further replies, which are not stored. */
  readonly unlisted: { duplicates: number; late: number };
  /**
   * True if the probe was stalled, or its packet process ended, while the reply was awaited; `isLeftOut` decides
   * whether the packet counts.
   */
  isDoubtful: boolean;
  /** True if the check ended before a reply could be expected. */
  isCut: boolean;
  /** True if packets did not leave the probe at that time (`leaveOutUnsent`). */
  isUnsent: boolean;
  /**
   * The first ICMP error about the packet; `hopLimit` is the TTL with which the error arrived, `readMs` when the agent
   * read it.
   */
  icmp: (ReceivedIcmp & { readonly hopLimit: number | null; readonly readMs: number }) | null;
}

export interface SessionState {
  readonly packets: SentPacket[];
  /** Time for which the packet process stalled, in stalls of a second or more, milliseconds. */
  stalledMs: number;
  reordered: number;
  corrupted: number;
  /** True if packets were not sent because no client followed the check any more. */
  isAbandoned: boolean;
  /** The failure that ended the session early; null if it was complete. */
  failure: Failure | null;
}

/** @param nowMs when the sending is requested */
export function packetToSend(seq: number, nowMs: number): SentPacket {
  return {
    seq,
    awaitedMs: nowMs,
    sentMs: null,
    replies: [],
    isDoubtful: false,
    isCut: false,
    isUnsent: false,
    icmp: null,
    unlisted: { duplicates: 0, late: 0 },
  };
}

/**
 * Why a packet was not sent. The kernel compares the size of a packet only with the MTU of the probe's own link, never
 * with the path.
 */
export function whyUnsent(error: unknown, request: Uint8Array): Failure {
  const failure = unsentFailure(error);
  if (failure.code !== 'packet_too_big') return failure;
  const message = `The probe’s own link does not carry an ICMP message of ${request.length} bytes: the packet was not sent.`;
  return { ...failure, source: 'probe', message };
}

/**
 * True for a packet that does not count: not sent, or its reply may be lost, may still come, or has no true time.
 */
export function isLeftOut({ sentMs, isDoubtful, isCut, isUnsent, replies, icmp }: SentPacket): boolean {
  if (sentMs === null || isCut || isUnsent) return true;
  const [reply] = replies;
  return isDoubtful && (reply === undefined ? icmp === null : reply.clock === 'process');
}

/** True for a reply within the timeout. */
export function isInTime(packet: SentPacket, reply: Reply): boolean {
  return packet.sentMs !== null && reply.receivedMs - packet.sentMs <= REPLY_TIMEOUT_MS;
}

/** Sequence number of a packet on the wire. */
export function onWire({ firstSequence }: SessionPlan, seq: number): number {
  return (firstSequence + seq - 1) & 0xffff;
}

/** The packet that was sent with a sequence number; undefined if there is none. */
export function sentAs(
  { packets }: SessionState,
  { firstSequence }: SessionPlan,
  sequence: number,
): SentPacket | undefined {
  return packets[(sequence - firstSequence) & 0xffff];
}

/** The packet that an ICMP error quotes; undefined if the quotation contradicts what this check sent. */
export function quotedPacket(state: SessionState, plan: SessionPlan, error: IcmpError): SentPacket | undefined {
  const { payload, destination } = error.quoted;
  if (payload.length < 8 || destination !== plan.target.address) return undefined;
  const sequence = readU16(payload, 6);
  const sent = sentAs(state, plan, sequence);
  if (sent === undefined || !quotesPayload(plan.payload, payload.subarray(8))) return undefined;
  const request = echoRequest(plan.target.family, readU16(payload, 4), sequence, plan.payload);
  // Only the kernel knows the checksum of an ICMPv6 request.
  return plan.target.family === 6 || readU16(request, 2) === readU16(payload, 2) ? sent : undefined;
}

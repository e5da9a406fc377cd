import type { Failure } from '@vantage/contract';

import type { Clock } from '../../../sockets/packet-socket.ts';
import { unsentFailure } from '../../../sockets/unsent.ts';
import type { IcmpError } from '../../../sockets/wire/icmp.ts';
import type { RewrittenField } from '../reply-fields.ts';
import { FULL_TTL } from '../result-fields.ts';

/**
 * One packet of the trace. Its answer is awaited since `awaitedMs`, by the agent's clock, which stops during stalls;
 * `sentMs` and `receivedMs` are by the packet process's clock.
 */
export interface TracePacket {
  readonly flow: number;
  /** Number within its flow. */
  readonly index: number;
  readonly ttl: number;
  awaitedMs: number;
  sentMs: number | null;
  answer: TraceAnswer | null;
  /** True once the packet counts as lost, because no answer is awaited any more; one may still arrive. */
  isGivenUp: boolean;
  /**
   * True if the probe was stalled, or its packet process ended, while the answer was awaited: without an answer, the
   * packet counts neither as sent nor as lost.
   */
  isDoubtful?: boolean;
  /**
   * True for a packet that does not count: a stall may have hidden its answer, the trace ended while it was awaited, or
   * it may not have left the probe.
   */
  isLeftOut?: boolean;
  /** Why the kernel refused to send it. */
  unsent?: Failure;
  /** True if it is left out because packets did not leave the probe at that time. */
  isUnsent?: boolean;
  /** Round of a packet of `runRounds`, from 2 on; absent in the trace, which is the first round. */
  readonly round?: number;
  /** Number of answers after the first that count (`takeAnswer`). */
  duplicates?: number;
  /**
   * True if an answer arrived after more than `MAX_WAIT_MS`: in rounds and in a search for all paths it does not count.
   */
  isLate?: boolean;
}

export interface TraceAnswer {
  readonly from: string;
  readonly receivedMs: number;
  readonly clock: Clock;
  /** TTL at arrival; null if not known. */
  readonly hopLimit: number | null;
  /** `expired`: the TTL expired at a router; `target`: the target answered; `refused`: any other ICMP error. */
  readonly kind: 'expired' | 'target' | 'refused';
  readonly error: IcmpError | null;
  /** Whether a TCP segment accepts or resets the SYN (`FlowAnswer`). */
  readonly reply?: 'accepted' | 'reset';
  /** Fields of the quoted packet that are not as they were sent. */
  readonly rewritten: readonly RewrittenField[];
}

export function isAwaited({ answer, isGivenUp, isLeftOut }: TracePacket): boolean {
  return answer === null && !isGivenUp && isLeftOut !== true;
}

/** Ends the wait for an answer: the packet counts as lost, or is left out if the probe was stalled meanwhile. */
export function giveUp(packet: TracePacket): void {
  if (packet.isDoubtful === true) packet.isLeftOut = true;
  else packet.isGivenUp = true;
}

/** Ends the wait for an answer to a packet that the kernel refused to send. */
export function refuse(packet: TracePacket, error: unknown): void {
  packet.isGivenUp = true;
  packet.unsent = unsentFailure(error);
}

/** Notes that the probe may have missed answers: it stalled, or its packet process ended. */
export function doubtAwaited(packets: readonly TracePacket[]): void {
  for (const packet of packets) if (isAwaited(packet)) packet.isDoubtful = true;
}

/** Leaves out the packets that are still awaited at the end of a trace: they had no time for an answer. */
export function leaveOutAwaited(packets: readonly TracePacket[]): void {
  for (const packet of packets) if (isAwaited(packet)) packet.isLeftOut = true;
}

/** Removes the packets that do not count from a trace that has ended, and returns them. */
export function dropLeftOut(packets: TracePacket[]): readonly TracePacket[] {
  const dropped = packets.filter(({ isLeftOut }) => isLeftOut === true);
  const kept = packets.filter(({ isLeftOut }) => isLeftOut !== true);
  packets.splice(0, packets.length, ...kept);
  return dropped;
}

/** True for a packet with the full TTL, which reaches the target whatever the length of the path. */
export function isFull({ ttl }: TracePacket): boolean {
  return ttl === FULL_TTL;
}

/** Round-trip time in milliseconds; null if the send time or an answer is missing. */
export function rttOf({ sentMs, answer }: TracePacket): number | null {
  return sentMs === null || answer === null ? null : Math.max(0, answer.receivedMs - sentMs);
}

/**
 * The hop at which the target answered a packet; null if the answer does not reveal it. An ICMP error quotes the packet
 * with its remaining TTL, which gives the distance even if the packets whose TTL ended there were lost.
 *
 * @param lastExpired highest TTL that expired at a router of the flow: the target is beyond it
 */
export function distanceOf(
  { ttl, answer }: TracePacket,
  lastExpired: number,
  { firstHop, maxHops }: { readonly firstHop: number; readonly maxHops: number },
): number | null {
  if (answer?.kind !== 'target') return null;
  const byQuotation = answer.error === null ? 0 : ttl - answer.error.quoted.hopLimit + 1;
  const isPossible = byQuotation > lastExpired && byQuotation >= firstHop;
  if (isPossible && byQuotation <= Math.min(ttl, maxHops)) return byQuotation;
  return ttl === FULL_TTL ? null : ttl;
}

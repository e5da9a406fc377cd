import { addressBytes, addressText } from '@vantage/contract/address';

import type { ReceivedPacket } from '../../sockets/packet-socket.ts';
import type { EchoReply, IcmpError } from '../../sockets/wire/icmp.ts';
import { isTelling, matchPayload } from './payload.ts';
import { isInTime, quotedPacket, sentAs, type SessionState, type SessionPlan } from './sent-packets.ts';

/**
 * Limit of stored replies per packet: the answer, and as many duplicates as a result lists (`MAX_DUPLICATE_ROWS`).
 * Others are only counted.
 */
const MAX_REPLIES = 17;

/** Adds an echo reply to the packet that it answers. */
export function takeReply(
  state: SessionState,
  plan: SessionPlan,
  reply: EchoReply,
  { receivedMs, clock, hopLimit, from }: ReceivedPacket,
): void {
  const sent = sentAs(state, plan, reply.sequence);
  const match = matchPayload(plan.payload, reply.payload);
  if (sent === undefined || match === 'foreign') return;
  if (!isTelling(plan.payload) && from !== asReported(plan.target.address)) return;
  if (match === 'changed' || !reply.intact) {
    state.corrupted += 1;
    return;
  }
  const isOvertaken = state.packets.some(({ seq, replies }) => seq > sent.seq && replies.length > 0);
  if (sent.replies.length === 0 && isOvertaken) state.reordered += 1;
  const received = { receivedMs, clock, hopLimit, from };
  if (sent.replies.length < MAX_REPLIES) sent.replies.push(received);
  else if (isInTime(sent, received)) sent.unlisted.duplicates += 1;
  else sent.unlisted.late += 1;
}

/** Adds an ICMP error to the packet that it quotes, unless it has one. */
export function takeError(
  state: SessionState,
  plan: SessionPlan,
  error: IcmpError,
  { from, hopLimit }: ReceivedPacket,
  readMs: number,
): void {
  const sent = quotedPacket(state, plan, error);
  if (sent !== undefined && error.intact) sent.icmp ??= { error, from, hopLimit, readMs };
}

/** An address in the form in which the packet process reports those of packets. */
function asReported(address: string): string {
  return addressText(addressBytes(address));
}

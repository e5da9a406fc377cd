import type { ProbeClock } from '../../sockets/clock/probe-clock.ts';
import { REPLY_TIMEOUT_MS } from './contract.ts';
import type { SessionState, SentPacket } from './sent-packets.ts';

/** After the last packet, replies are awaited for this multiple of the longest RTT. */
const WAIT_RTTS = 4;
/** Minimum time for which replies are awaited after the last packet. */
const MIN_WAIT_MS = 1_000;
/**
 * Wait for a reply after an ICMP error: a network that duplicates a packet may deliver one copy and refuse the other.
 */
const AFTER_ERROR_MS = 200;
/**
 * A packet that is not sent after this time shows, at the end, that the packet process hangs: sending takes
 * microseconds.
 */
const SEND_TIMEOUT_MS = 100;
/** A packet counts as lost at the end of the check if its reply was awaited for this share of the usual time. */
const LEAST_WAIT_SHARE = 0.5;

type Packets = Pick<SessionState, 'packets'>;

/** True for a packet that may still be answered. */
export function isAwaited(packet: SentPacket, clock: ProbeClock): boolean {
  return !isSettled(packet) && (packet.sentMs === null || clock.now() - packet.awaitedMs <= REPLY_TIMEOUT_MS);
}

/** Notes a stall of the probe, or the end of its packet process: replies to awaited packets may be lost. */
export function doubtAwaited({ packets }: Packets, clock: ProbeClock): void {
  for (const packet of packets) packet.isDoubtful ||= isAwaited(packet, clock);
}

/** Notes the packets that the end of the check left too little time for a reply: their silence proves nothing. */
export function cutAwaited({ packets }: Packets, clock: ProbeClock): void {
  const nowMs = clock.now();
  const leastMs = LEAST_WAIT_SHARE * longestWaitMs({ packets });
  for (const packet of packets) packet.isCut = !isSettled(packet) && nowMs - packet.awaitedMs < leastMs;
}

/** True if the packet process has not sent a packet for too long. */
export function isHanging({ packets }: Packets, clock: ProbeClock): boolean {
  const nowMs = clock.now();
  return packets.some(
    (packet) =>
      packet.sentMs === null && !isSettled(packet) && (clock.isStill() || nowMs - packet.awaitedMs > SEND_TIMEOUT_MS),
  );
}

/** Milliseconds for which replies are still awaited after every packet was sent. */
export function replyWaitMs({ packets }: Packets, clock: ProbeClock): number {
  if (packets.every(isSettled)) {
    return Math.max(...packets.map(({ icmp }) => icmp?.readMs ?? 0)) + AFTER_ERROR_MS - clock.now();
  }
  const waitMs = longestWaitMs({ packets });
  return Math.max(0, ...packets.map(({ awaitedMs }) => awaitedMs)) + waitMs - clock.now();
}

/** Milliseconds for which the reply to a packet is awaited, by the round trips of others. */
function longestWaitMs({ packets }: Packets): number {
  const rtts = packets.flatMap(({ sentMs, replies }) => {
    const first = replies[0];
    return sentMs === null || first === undefined ? [] : [first.receivedMs - sentMs];
  });
  return rtts.length === 0 || packets.some(({ sentMs }) => sentMs === null)
    ? REPLY_TIMEOUT_MS
    : Math.min(REPLY_TIMEOUT_MS, Math.max(MIN_WAIT_MS, WAIT_RTTS * Math.max(...rtts)));
}

function isSettled({ replies, icmp }: SentPacket): boolean {
  return replies.length > 0 || icmp !== null;
}

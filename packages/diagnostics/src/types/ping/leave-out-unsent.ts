import type { Exchange, SentPacket } from './sent-packets.ts';

/**
 * Leaves out the packets without a reply between answered ones, if one of them did not leave the probe: silence before it
 * may be due to its link, too.
 */
export function leaveOutUnsent(
  { packets }: Pick<Exchange, 'packets'>,
  isUnsent: (packet: SentPacket) => boolean,
): void {
  let silent: SentPacket[] = [];
  for (const packet of packets) {
    if (packet.replies.length === 0 && (packet.icmp === null || isUnsent(packet))) {
      silent.push(packet);
      continue;
    }
    if (silent.some(isUnsent)) for (const one of silent) one.isUnsent = true;
    silent = [];
  }
}

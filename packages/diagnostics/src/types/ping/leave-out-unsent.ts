import type { Failure } from '@vantage/contract';

import { isExplained, type Unsent } from '../../sockets/unsent.ts';
import type { SessionState, SentPacket } from './sent-packets.ts';

/**
 * Leaves out the packets without a reply between answered ones that did not leave the probe, or whose silence that
 * explains: packets before may be lost on its link, too.
 *
 * @param whyUnsent returns why a packet did not leave the probe; null if it did
 */
export function leaveOutUnsent(
  { packets }: Pick<SessionState, 'packets'>,
  whyUnsent: (packet: SentPacket) => Failure | null,
): void {
  let silent: SentPacket[] = [];
  let unsent: Unsent[] = [];
  for (const packet of packets) {
    const failure = packet.replies.length === 0 ? whyUnsent(packet) : null;
    if (failure !== null) unsent.push({ atMs: packet.awaitedMs, failure });
    if (failure !== null || (packet.replies.length === 0 && packet.icmp === null)) {
      silent.push(packet);
      continue;
    }
    for (const one of silent) if (isExplained(one.awaitedMs, unsent)) one.isUnsent = true;
    [silent, unsent] = [[], []];
  }
}

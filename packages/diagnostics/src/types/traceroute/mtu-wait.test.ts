import { describe, expect, it } from '@jest/globals';

import { fakePackets } from '../../../test/fake-packets.ts';
import { path, virtualTrace } from '../../../test/trace-network.ts';
import type { PacketSockets } from '../../sockets/packet-socket.ts';

/** TTL of the echo requests of the path MTU search. */
const MTU_TTL = 64;

/** Sockets of a busy probe: an answer is read before the confirmation that its packet was sent. */
function confirmedLate(sockets: PacketSockets): PacketSockets {
  return {
    ...sockets,
    open: async (options) => {
      const socket = await sockets.open(options);
      return {
        ...socket,
        send: async (...packet) => {
          const sentMs = await socket.send(...packet);
          await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
          return sentMs;
        },
      };
    },
  };
}

describe('the search for the path MTU of a black hole', () => {
  it.each([
    ['at once', (sockets: PacketSockets) => sockets],
    ['after the answers', confirmedLate],
  ])('waits as long as the round trip needs if packets are confirmed %s', async (_, view) => {
    const times: number[] = [];
    const network = path(3, (sent) => {
      if (sent.ttl === MTU_TTL) times.push(performance.now());
      return sent.packet.length + 20 > 1_400 ? [] : undefined;
    });
    const outcome = await virtualTrace({ packets: view(fakePackets(network)) });

    expect(outcome).toMatchObject({ pathMtu: 1_400, mtuBlackHole: 1_401 });
    expect(times.at(-1)! - times[0]!).toBeLessThan(10_000);
  });
});

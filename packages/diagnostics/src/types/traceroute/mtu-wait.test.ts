import { describe, expect, it } from '@jest/globals';

import { fakePackets, type FakeAnswer, type FakePackets, type FakeSent } from '../../../test/fake-packets.ts';
import { answerOfTarget, expired, path, router, virtualTrace } from '../../../test/trace-network.ts';
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

  it.each(['icmp', 'udp'] as const)(
    'is the same on a probe that gets little of its processors, with %s',
    async (protocol) => {
      const fake = busyPackets((sent) => {
        if (sent.packet.length + 20 > 1_400) return [];
        return [sent.ttl < 3 ? expired(sent, router(sent.ttl)) : answerOfTarget(sent)];
      });
      const outcome = await virtualTrace({ packets: fake }, { protocol });

      expect(outcome).toMatchObject({ reached: true, pathMtu: 1_400, mtuBlackHole: 1_401 });
      if (protocol === 'udp') expect(outcome.fullSize).toEqual({ bytes: 1_500, arrives: false });
    },
  );
});

/** Sockets of a packet process that runs for only a fourth of the time, in slices, from its first packet on. */
function busyPackets(network: (sent: FakeSent) => readonly FakeAnswer[]): FakePackets {
  const run = (): void => {
    fake.resume();
    setTimeout(halt, 200);
  };
  const halt = (): void => {
    fake.stop();
    setTimeout(run, 600);
  };
  const fake = fakePackets((sent) => {
    if (fake.sent.length === 1) halt();
    return network(sent);
  }, true);
  return fake;
}

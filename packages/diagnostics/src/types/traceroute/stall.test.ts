import { describe, expect, it } from '@jest/globals';

import { fakePackets, type FakeAnswer, type FakePackets, type FakeSent } from '../../../test/fake-packets.ts';
import { arrived, expired, path, router, TARGET, traceOver, virtualTrace } from '../../../test/trace-network.ts';

/** A path whose packet process is stopped `atMs` after its first packet, for `forMs`. */
function stopping(
  atMs: number,
  forMs: number,
  network: (sent: FakeSent) => readonly FakeAnswer[] = path(4),
): FakePackets {
  const fake = fakePackets((sent) => {
    if (fake.sent.length === 1) {
      setTimeout(fake.stop, atMs);
      setTimeout(fake.resume, atMs + forMs);
    }
    return network(sent);
  }, true);
  return fake;
}

/** Stops the packet process `atMs` after its first packet, and kills it `forMs` later. */
function killing(atMs: number, forMs: number): FakePackets {
  const fake = fakePackets((sent) => {
    if (fake.sent.length === 1) {
      setTimeout(fake.stop, atMs);
      setTimeout(fake.crash, atMs + forMs);
    }
    return path(4)(sent);
  }, true);
  return fake;
}

describe('rounds while the packet process stands still', () => {
  it.each([2_000, 4_000, 4_900])('lose nothing in %d ms', async (forMs) => {
    const fake = stopping(3_300, forMs);
    const outcome = await virtualTrace({ packets: fake }, { rounds: 10 });

    expect(outcome).toMatchObject({ result: 'success', reached: true });
    for (const { hop, stats, rtts } of outcome.hops!) {
      expect(rtts).not.toContain(null);
      expect(stats).toMatchObject({ loss: 0, rttMin: hop, rttMax: hop });
    }
    expect(outcome.stalled).toBeGreaterThan(forMs - 400);
    expect(outcome.stalled).toBeLessThan(forMs + 100);
  });

  it.each(['udp', 'tcp'] as const)('lose nothing over %s', async (protocol) => {
    const network = (one: FakeSent): readonly FakeAnswer[] =>
      one.ttl < 3 ? [expired(one, router(one.ttl))] : one.protocol === 'icmp' ? [arrived(one)] : [];
    const outcome = await virtualTrace(
      { packets: stopping(3_300, 4_000, network) },
      { rounds: 6, protocol, maxHops: 6 },
    );

    for (const { stats } of outcome.hops!.slice(0, 2)) expect(stats).toMatchObject({ loss: 0 });
  });

  it('read the answers that came meanwhile, with their true times', async () => {
    // The probe is stopped while the packets of a round are under way.
    const slow = path(2, (one) => [one.ttl < 2 ? expired(one, router(1), 300) : arrived(one, 300)]);
    const outcome = await virtualTrace({ packets: stopping(2_100, 4_000, slow) }, { rounds: 6 });

    for (const { stats } of outcome.hops!) expect(stats).toMatchObject({ loss: 0, rttMin: 300, rttMax: 300 });
  });

  it('leave out the packets whose answers are lost meanwhile, and say how many rounds', async () => {
    // Packets and answers in flight when the machine stops are lost.
    let startedMs = 0;
    const own = stopping(3_300, 4_000, (sent) => {
      startedMs ||= performance.now();
      const atMs = performance.now() - startedMs;
      return atMs > 3_000 && atMs < 3_301 ? [] : path(4)(sent);
    });
    const outcome = await virtualTrace({ packets: own }, { rounds: 10 });

    expect(outcome.hops!.map(({ stats }) => stats!.loss)).toEqual([0, 0, 0, 0]);
    expect(Math.min(...outcome.hops!.map(({ stats }) => stats!.sent))).toBe(9);
    expect(outcome.roundsLeftOut).toBe(1);
  });

  it('count real loss before and after', async () => {
    const sent = new Map<number, number>();
    const network = path(3, (one) => {
      if (one.packet.length >= 200 || one.ttl < 3) return undefined;
      const number = (sent.get(one.ttl) ?? 0) + 1;
      sent.set(one.ttl, number);
      return number === 3 || number === 8 ? [] : undefined;
    });
    const outcome = await virtualTrace({ packets: stopping(4_600, 3_000, network) }, { rounds: 10 });

    expect(outcome.hops!.at(-1)!.stats).toMatchObject({ sent: 10, received: 8, loss: 0.2 });
  });

  it('count neither as sent nor as lost what a killed process had not sent', async () => {
    const outcome = await virtualTrace({ packets: killing(3_300, 5_000) }, { rounds: 12 });

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'probe_interrupted' }, reached: true });
    for (const { rtts } of outcome.hops!) expect(rtts).not.toContain(null);
    expect(outcome.roundsLeftOut).toBeGreaterThan(7);
  });
});

describe('a trace while the packet process stands still', () => {
  it.each([
    ['its first packets', 0],
    ['its last ones', 3],
  ])('finds the whole path: at %s', async (_, atMs) => {
    const outcome = await virtualTrace({ packets: stopping(atMs, 4_800) });

    expect(outcome).toMatchObject({ result: 'success', reached: true, stopReason: 'completed' });
    expect(outcome.hops!.map(({ ip }) => ip)).toEqual([1, 2, 3].map(router).concat(TARGET));
    for (const { rtts } of outcome.hops!) expect(rtts).not.toContain(null);
  });

  it('is interrupted if no time is left, and says nothing about the target', async () => {
    const outcome = await virtualTrace({ packets: stopping(1, 40_000), budgetMs: 20_000 });

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'probe_interrupted', source: 'probe' } });
  });

  it('states no stall without one', async () => {
    const { outcome } = await traceOver(
      path(3, ({ ttl }) => (ttl === 2 ? [] : undefined)),
      { rounds: 4 },
    );

    expect(outcome).not.toHaveProperty('stalled');
    expect(outcome).not.toHaveProperty('roundsLeftOut');
  });
});

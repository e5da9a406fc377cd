import { describe, expect, it } from '@jest/globals';

import type { FakeAnswer, FakeSent } from '../../../test/fake-packets.ts';
import { answerOfTarget, arrived, expired, router, TARGET, traceOver } from '../../../test/trace-network.ts';

const ROUTERS = 5;
const inTime = { inTime: true, budgetMs: 44_000 };

/**
 * A target behind routers that answer and some that do not. Packets come back over as many hops as they took, those of
 * the target over `shift` more.
 */
function network(silent: number, answers: (number: number) => boolean, shift = 0): (sent: FakeSent) => FakeAnswer[] {
  const length = ROUTERS + silent + 1;
  let count = 0;
  return (sent) => {
    // The search for the path MTU.
    if (sent.packet.length > 200) return [arrived(sent)];
    if (sent.ttl <= ROUTERS) return [{ ...expired(sent, router(sent.ttl)), hopLimit: 256 - sent.ttl }];
    if (sent.ttl < length || !answers((count += 1))) return [];
    return [{ ...answerOfTarget(sent), hopLimit: 65 - length - shift }];
  };
}

async function hopsOfTarget(of: ReturnType<typeof network>, options: object = {}): Promise<number[]> {
  const { outcome } = await traceOver(of, { protocol: 'tcp', port: 443, ...options }, inTime);
  return (outcome.hops ?? []).filter(({ ip }) => ip === TARGET).map(({ hop }) => hop);
}

/** A rate limit that other probes have used up at first, and then share. */
const late =
  (first: number, every: number) =>
  (number: number): boolean =>
    number > first && number % every === 0;

describe('a target that leaves most packets unanswered', () => {
  it.each([
    [0, 8, 7, {}],
    [0, 16, 10, {}],
    [2, 12, 10, {}],
    [2, 8, 7, {}],
    [1, 24, 7, { flows: 16, queries: 1 }],
    [2, 20, 10, { flows: 16, queries: 1 }],
  ])(
    'is at the hop that the TTL of its replies tells, behind %d silent routers',
    async (silent, first, every, options) => {
      expect(await hopsOfTarget(network(silent, late(first, every)), options)).toEqual([ROUTERS + silent + 1]);
    },
  );

  it('is at the lowest TTL that it answers if its replies take another way', async () => {
    const [hop] = await hopsOfTarget(network(0, late(8, 7), 20));

    expect(hop).toBeGreaterThan(ROUTERS + 1);
  });
});

describe('a target that answers every packet', () => {
  it('is at the lowest TTL that it answers, whatever way its replies take', async () => {
    expect(await hopsOfTarget(network(2, () => true, -2))).toEqual([ROUTERS + 3]);
  });
});

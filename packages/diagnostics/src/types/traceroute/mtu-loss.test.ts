import { describe, expect, it } from '@jest/globals';
import { cases } from '@vantage/test-support/random/case-count';

import { numbers } from '../../../test/numbers.ts';
import { arrived, expired, router, traceOver, unreachable } from '../../../test/trace-network.ts';
import type { FakeSent } from '../../../test/fake-packets.ts';

const TRACES = cases(25);
const DISTANCE = 4;
/** TTL of the echo requests of the path MTU search. */
const MTU_TTL = 64;

/** True if the target answers this packet, which has reached it. */
type Answers = (sent: FakeSent) => boolean;

/** False statements of traces over a path with an MTU of 1500 bytes. */
async function wrongClaims(answersOf: (seed: number) => Answers, rttMs: number): Promise<object[]> {
  const wrong: object[] = [];
  for (let seed = 1; seed <= TRACES; seed += 1) {
    const answers = answersOf(seed);
    const { outcome } = await traceOver(
      (sent) => {
        if (sent.ttl < DISTANCE) return [expired(sent, router(sent.ttl), rttMs)];
        return answers(sent) ? [arrived(sent, rttMs)] : [];
      },
      {},
      { inTime: true },
    );
    const { pathMtu, mtuBlackHole } = outcome;
    if ((pathMtu ?? 1_500) !== 1_500 || (mtuBlackHole ?? null) !== null) wrong.push({ seed, pathMtu, mtuBlackHole });
  }
  return wrong;
}

/** A token bucket for echo replies of any size. */
function limiter(burst: number, perSecond: number): Answers {
  let tokens = burst;
  let lastMs: number | undefined;
  return () => {
    const now = performance.now();
    tokens = Math.min(burst, tokens + ((now - (lastMs ?? now)) * perSecond) / 1_000);
    lastMs = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

describe('the path MTU of a path that carries 1500 bytes', () => {
  it.each([10, 30, 50, 70])('is never another where %i %% of all packets are lost', async (percent) => {
    const claims = await wrongClaims((seed) => {
      const next = numbers(seed * 7_919 + percent);
      return () => next(100) >= percent;
    }, 20);

    expect(claims).toEqual([]);
  });

  it.each([30, 70])(
    'is never another where a target that answers the trace lets %i %% of all echoes go',
    async (percent) => {
      const claims = await wrongClaims((seed) => {
        const next = numbers(seed * 104_729 + percent);
        return ({ ttl }) => ttl !== MTU_TTL || next(100) >= percent;
      }, 20);

      expect(claims).toEqual([]);
    },
  );

  it.each([20, 100, 300, 700])('is never another where echo replies are limited, %i ms away', async (rttMs) => {
    const claims = await wrongClaims((seed) => {
      const isAllowed = limiter(1 + (seed % 20), 0.25 + (seed % 25) / 5);
      return (sent) => (seed % 2 === 0 && sent.ttl !== MTU_TTL) || isAllowed(sent);
    }, rttMs);

    expect(claims).toEqual([]);
  });

  it.each([2, 3])('is never another where one of %i echoes is answered', async (every) => {
    const claims = await wrongClaims((seed) => {
      let count = seed;
      return ({ ttl }) => ttl !== MTU_TTL || (count += 1) % every === 0;
    }, 20);

    expect(claims).toEqual([]);
  });

  it.each([256, 64, 33, 19, 9, 4])(
    'is never another where a link of %i kbit/s delays large packets',
    async (kbitPerSecond) => {
      const { outcome } = await traceOver(
        (sent) => {
          const rttMs = 20 + (2 * 8 * (sent.packet.length + 20)) / kbitPerSecond;
          return [sent.ttl < DISTANCE ? expired(sent, router(sent.ttl), 20) : arrived(sent, rttMs)];
        },
        {},
        { inTime: true },
      );

      expect([1_500, null]).toContain(outcome.pathMtu);
      expect(outcome.mtuBlackHole).toBeNull();
    },
  );
});

describe('a router that refuses large packets', () => {
  it.each([
    [20, 1_400],
    [200, 1_400],
    [300, 1_400],
    [700, 1_400],
    [1_500, 1_400],
    [3_000, 1_400],
    [3_000, 1_499],
    [6_000, 1_400],
  ])('is no black hole if it takes %i ms for the error, which reports %i bytes', async (errorMs, mtu) => {
    const { outcome } = await traceOver(
      (sent) => {
        if (sent.ttl < DISTANCE) return [expired(sent, router(sent.ttl), 20)];
        if (sent.packet.length + 20 <= mtu) return [arrived(sent, 20)];
        return [{ ...unreachable(sent, 4, router(2), mtu), rttMs: errorMs }];
      },
      {},
      { inTime: true },
    );

    expect(outcome).toMatchObject({ pathMtu: mtu, mtuBlackHole: null });
  });
});

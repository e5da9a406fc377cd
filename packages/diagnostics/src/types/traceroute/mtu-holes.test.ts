import { describe, expect, it } from '@jest/globals';
import { cases } from '@vantage/test-support/random/case-count';

import type { FakeAnswer, FakeSent } from '../../../test/fake-packets.ts';
import { numbers } from '../../../test/numbers.ts';
import { arrived, expired, router, TARGET, traceOver, unreachable } from '../../../test/trace-network.ts';
import { MAX_MTU_PACKETS } from './contract.ts';

/** Time of a check without rounds. */
const BUDGET_MS = 30_000;
const DISTANCE = 4;
const ERROR_MS = 5;
/** TTL of the echo requests of the path MTU search. */
const MTU_TTL = 64;

interface Sizes {
  /** Largest packet that the first router forwards; it refuses larger ones with an error. */
  readonly refusing?: number;
  /** Largest packets that are not lost on the way to the first router, and beyond it. */
  readonly before?: number;
  readonly beyond?: number;
}

/** A path of four hops whose first router refuses large packets, while others vanish. */
function over({ refusing = 1_500, before = 1_500, beyond = 1_500 }: Sizes, rttMs: number) {
  return (sent: FakeSent): readonly FakeAnswer[] => {
    const bytes = sent.packet.length + 20;
    if (bytes > before) return [];
    if (sent.ttl === 1) return [expired(sent, router(1), ERROR_MS)];
    if (bytes > refusing) return [{ ...unreachable(sent, 4, router(1), refusing), rttMs: ERROR_MS }];
    if (bytes > beyond) return [];
    if (sent.ttl < DISTANCE) return [expired(sent, router(sent.ttl), rttMs)];
    return [sent.protocol === 'udp' ? { ...unreachable(sent, 3, TARGET), rttMs } : arrived(sent, rttMs)];
  };
}

const inTime = { inTime: true, budgetMs: BUDGET_MS };

describe.each([2, 20, 200, 430, 700, 1_000, 1_300])('a target %i ms away', (rttMs) => {
  it.each([
    ['the path swallows packets', { beyond: 1_300 }, 1_300, 1_301],
    ['the path swallows packets of the common size alone', { beyond: 1_499 }, 1_499, 1_500],
    ['the path swallows nearly all packets', { beyond: 148 }, 148, 149],
    [
      'a router refuses packets, and a later one swallows smaller ones',
      { refusing: 1_400, beyond: 1_300 },
      1_300,
      1_301,
    ],
    [
      'a router refuses packets, and an earlier one swallows larger ones',
      { refusing: 1_400, before: 1_450 },
      1_400,
      1_451,
    ],
    [
      'packets are swallowed before and beyond a router that refuses some',
      { refusing: 1_400, before: 1_450, beyond: 1_300 },
      1_300,
      1_301,
    ],
    ['a router refuses packets', { refusing: 1_400 }, 1_400, null],
  ])('has an exact path MTU if %s', async (_, sizes, pathMtu, mtuBlackHole) => {
    const { outcome } = await traceOver(over(sizes, rttMs), {}, inTime);

    expect(outcome).toMatchObject({ result: 'success', pathMtu, mtuBlackHole });
    expect(outcome.echo!.sent).toBeLessThanOrEqual(MAX_MTU_PACKETS);
  });
});

describe('the path MTU', () => {
  it.each([
    ['udp', { protocol: 'udp' as const }],
    ['all flows', { flows: 'all' as const }],
    ['both queries and flows', { queries: 10, flows: 2 }],
  ])('is known by %s beyond a router that refuses packets', async (_, options) => {
    const { outcome } = await traceOver(over({ refusing: 1_400, beyond: 1_300 }, 20), options, inTime);

    expect(outcome).toMatchObject({ pathMtu: 1_300, mtuBlackHole: 1_301 });
  });

  it.each([
    ['refused', { refusing: 1_400 }, 1_400, null],
    ['swallowed', { beyond: 1_300 }, 1_300, 1_301],
    ['refused, and smaller ones swallowed', { refusing: 1_400, beyond: 1_300 }, 1_300, 1_301],
  ])('is known of a trace whose own large packets are %s', async (_, sizes, pathMtu, mtuBlackHole) => {
    const { outcome } = await traceOver(over(sizes, 20), { size: 1_500 }, inTime);

    expect(outcome).toMatchObject({ reached: false, pathMtu, mtuBlackHole });
  });

  it.each([6_000, 12_000])(
    'is not that of a router if packets of it vanish but %i ms do not suffice',
    async (budgetMs) => {
      const { outcome } = await traceOver(over({ refusing: 1_400, beyond: 1_300 }, 600), {}, { ...inTime, budgetMs });

      expect(outcome).toMatchObject({ pathMtu: null, mtuBlackHole: null });
    },
  );

  it.each([0.25, 0.5, 1, 2, 4])(
    'has no black hole if a router that refuses packets sends %d errors a second',
    async (perSecond) => {
      const answer = over({ refusing: 1_400 }, 20);
      for (const burst of [1, 2, 6]) {
        let tokens = burst;
        let lastMs: number | undefined;
        const { outcome } = await traceOver(
          (sent) => {
            if (sent.packet.length + 20 <= 1_400) return answer(sent);
            const now = performance.now();
            tokens = Math.min(burst, tokens + ((now - (lastMs ?? now)) * perSecond) / 1_000);
            lastMs = now;
            if (tokens < 1) return [];
            tokens -= 1;
            return answer(sent);
          },
          {},
          inTime,
        );

        expect({ burst, mtu: outcome.pathMtu, hole: outcome.mtuBlackHole }).toEqual({ burst, mtu: 1_400, hole: null });
      }
    },
  );

  it.each([10, 30, 50, 70])(
    'has no black hole if %i %% of the errors of a refusing router are lost',
    async (percent) => {
      for (let seed = 1; seed <= cases(25); seed += 1) {
        const next = numbers(seed * 7_919 + percent);
        const answer = over({ refusing: 1_400 }, 20);
        const { outcome } = await traceOver(
          (sent) => (sent.packet.length + 20 > 1_400 && next(100) < percent ? [] : answer(sent)),
          {},
          inTime,
        );

        expect({ seed, hole: outcome.mtuBlackHole, mtu: outcome.pathMtu ?? 1_400 }).toEqual({
          seed,
          hole: null,
          mtu: 1_400,
        });
      }
    },
  );

  it('has no black hole if the target answers a few echo requests only', async () => {
    for (let answers = 2; answers <= 30; answers += 1) {
      let large = 0;
      let echoes = 0;
      const answer = over({}, 20);
      const { outcome } = await traceOver(
        (sent) => {
          if (sent.ttl !== MTU_TTL) return answer(sent);
          // The first two large ones are lost by chance.
          if (sent.packet.length + 20 === 1_500 && (large += 1) <= 2) return [];
          return (echoes += 1) > answers ? [] : answer(sent);
        },
        {},
        inTime,
      );

      expect({ answers, hole: outcome.mtuBlackHole }).toEqual({ answers, hole: null });
    }
  });

  it.each([1, 2])('is exact in most traces over a black hole on a path that loses %i %%', async (percent) => {
    const traces = cases(10);
    let found = 0;
    for (let seed = 1; seed <= traces; seed += 1) {
      const next = numbers(seed * 104_729 + percent);
      const answer = over({ beyond: 1_300 }, 20);
      const { outcome } = await traceOver((sent) => (next(100) < percent ? [] : answer(sent)), {}, inTime);
      const { pathMtu, mtuBlackHole } = outcome;

      expect([1_300, null]).toContain(pathMtu);
      expect([1_301, null]).toContain(mtuBlackHole);
      if (mtuBlackHole === 1_301) found += 1;
    }
    expect(found).toBeGreaterThan(0.6 * traces);
  });
});

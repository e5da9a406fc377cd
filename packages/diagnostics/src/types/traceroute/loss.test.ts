import { describe, expect, it } from '@jest/globals';
import { cases } from '@vantage/test-support/random/case-count';

import { numbers } from '../../../test/numbers.ts';
import { arrived, expired, router, TARGET, traceOver } from '../../../test/trace-network.ts';

const DISTANCE = 6;
/** TTL of the echo requests of the path MTU search. */
const MTU_TTL = 64;

/** Packets for each measured loss; half as many if each trace has one packet, since that costs most. */
const PACKETS = cases(200);

/**
 * Percentage points by which the loss of a sample of this many packets may differ from that of all: three standard
 * deviations.
 */
function chancePoints(percent: number, packets: number): number {
  return 3 * Math.sqrt((percent * (100 - percent)) / packets);
}

interface Tally {
  lost: number;
  sent: number;
}

/**
 * Loss of many traces in per cent. `shown` is the reported loss at the target; `true` that of the first packets of each
 * flow that reach the target, as many as are reported; `ofAll` that of all packets that reach it. `beyond` is the
 * number of rows beyond the target.
 */
async function lossOf(
  percent: number,
  packets: number,
  options: { readonly queries: number; readonly flows?: number },
): Promise<{ shown: number; true: number; ofAll: number; beyond: number }> {
  const next = numbers(1_234_567_891 + percent);
  const shown: Tally = { lost: 0, sent: 0 };
  const truth: Tally = { lost: 0, sent: 0 };
  const all: Tally = { lost: 0, sent: 0 };
  let beyond = 0;
  while (shown.sent < packets) {
    const fates = new Map<number, boolean[]>();
    const { outcome } = await traceOver(
      (sent) => {
        // The path MTU search is no part of the trace.
        if (sent.ttl === MTU_TTL) return [arrived(sent, DISTANCE)];
        const isLost = sent.ttl > 2 && next(10_000) < percent * 100;
        if (sent.ttl >= DISTANCE) {
          fates.set(sent.identifier, [...(fates.get(sent.identifier) ?? []), isLost]);
        }
        if (isLost) return [];
        return [sent.ttl < DISTANCE ? expired(sent, router(sent.ttl)) : arrived(sent, DISTANCE)];
      },
      options,
      { inTime: true },
    );
    const hop = outcome.hops?.find(({ responders }) => responders.some(({ ip }) => ip === TARGET));
    expect(outcome.reached).toBe(true);
    expect(hop).toBeDefined();
    beyond += Math.max(0, outcome.hops!.length - DISTANCE);
    const byFlow = [...fates].toSorted(([a], [b]) => a - b).map(([, own]) => own);
    for (const [flow, { hops }] of outcome.flows!.entries()) {
      const own = byFlow[flow]!.slice(0, hops[DISTANCE - 1]!.length);
      truth.sent += own.length;
      truth.lost += own.filter(Boolean).length;
      all.sent += byFlow[flow]!.length;
      all.lost += byFlow[flow]!.filter(Boolean).length;
    }
    shown.sent += hop!.rtts.length;
    shown.lost += hop!.rtts.filter((rtt) => rtt === null).length;
  }
  const percentOf = ({ lost, sent }: Tally): number => (100 * lost) / sent;
  return { shown: percentOf(shown), true: percentOf(truth), ofAll: percentOf(all), beyond };
}

describe('the loss at the target that traces show', () => {
  it.each([
    [5, 3],
    [20, 3],
    [40, 3],
    [40, 10],
    [0, 3],
  ])('is within two points of %i %% with %i queries', async (percent, queries) => {
    const loss = await lossOf(percent, PACKETS, { queries });

    expect(Math.abs(loss.shown - loss.true)).toBeLessThanOrEqual(2);
    expect(Math.abs(loss.shown - loss.ofAll)).toBeLessThanOrEqual(chancePoints(percent, PACKETS));
  });

  it.each([5, 20, 40])(
    'is within two points of %i %% with eight flows of one query, with no row beyond it',
    async (percent) => {
      const loss = await lossOf(percent, PACKETS, { queries: 1, flows: 8 });

      expect(Math.abs(loss.shown - loss.true)).toBeLessThanOrEqual(2);
      expect(Math.abs(loss.shown - loss.ofAll)).toBeLessThanOrEqual(chancePoints(percent, PACKETS));
      expect(loss.beyond).toBe(0);
    },
  );

  it.each([20, 40])('is within two points of %i %% with one flow of one query', async (percent) => {
    const loss = await lossOf(percent, PACKETS / 2, { queries: 1 });

    expect(Math.abs(loss.shown - loss.true)).toBeLessThanOrEqual(2);
    expect(Math.abs(loss.shown - loss.ofAll)).toBeLessThanOrEqual(chancePoints(percent, PACKETS / 2));
  });

  it('is not taken from flows whose way is longer', async () => {
    const next = numbers(77_777);
    for (let count = 0; count < 20; count += 1) {
      const lengths = new Map<number, number>();
      const { outcome } = await traceOver(
        (sent) => {
          if (sent.ttl === MTU_TTL || (sent.ttl > 3 && next(10) < 4)) return [];
          const length = lengths.get(sent.identifier) ?? (lengths.size % 2 === 0 ? 5 : 7);
          lengths.set(sent.identifier, length);
          const way = length === 5 || sent.ttl < 3 ? 0 : 100;
          return [sent.ttl < length ? expired(sent, router(sent.ttl + way)) : arrived(sent, length)];
        },
        { queries: 1, flows: 6 },
        { inTime: true },
      );
      const ofLengths = [...lengths].toSorted(([a], [b]) => a - b).map(([, length]) => length);
      const ends = outcome.flows!.map(({ hops }) => hops.findLastIndex((hop) => hop.some((one) => one !== null)) + 1);
      expect(ends.filter((end, flow) => end < ofLengths[flow]!)).toEqual([]);
    }
  });
});

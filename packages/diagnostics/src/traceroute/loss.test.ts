import { describe, expect, it, jest } from '@jest/globals';

import { numbers } from '../../test/numbers.ts';
import { arrived, expired, router, TARGET, traceOver } from '../../test/trace-network.ts';

jest.setTimeout(300_000);

const DISTANCE = 6;
/** Of echo requests that look for the path MTU. */
const MTU_TTL = 64;

interface Tally {
  lost: number;
  sent: number;
}

/** What many traces show of the loss at the target, and what became of all packets that go so far, both per cent. */
async function lossOf(percent: number, packets: number, queries: number): Promise<{ shown: number; true: number }> {
  const next = numbers(1_234_567_891 + percent);
  const shown: Tally = { lost: 0, sent: 0 };
  const truth: Tally = { lost: 0, sent: 0 };
  while (shown.sent < packets) {
    const { outcome } = await traceOver(
      (sent) => {
        // Those that look for the path MTU are none of the trace.
        if (sent.ttl === MTU_TTL) return [];
        const isLost = sent.ttl > 2 && next(10_000) < percent * 100;
        if (sent.ttl >= DISTANCE) {
          truth.sent += 1;
          if (isLost) truth.lost += 1;
        }
        if (isLost) return [];
        return [sent.ttl < DISTANCE ? expired(sent, router(sent.ttl)) : arrived(sent, DISTANCE)];
      },
      { queries },
      { inTime: true },
    );
    const hop = outcome.hops?.at(-1);
    expect(outcome.reached).toBe(true);
    expect(hop?.ip).toBe(TARGET);
    shown.sent += hop!.rtts.length;
    shown.lost += hop!.rtts.filter((rtt) => rtt === null).length;
  }
  const percentOf = ({ lost, sent }: Tally): number => (100 * lost) / sent;
  return { shown: percentOf(shown), true: percentOf(truth) };
}

describe('the loss at the target that traces show', () => {
  it.each([
    [5, 3],
    [20, 3],
    [40, 3],
    [40, 10],
    [0, 3],
  ])('is within two points of %i %% over a thousand packets, with %i queries', async (percent, queries) => {
    const loss = await lossOf(percent, 1_000, queries);

    expect(Math.abs(loss.shown - loss.true)).toBeLessThanOrEqual(2);
  });
});

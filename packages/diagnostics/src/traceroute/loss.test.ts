import { describe, expect, it, jest } from '@jest/globals';

import { numbers } from '../../test/numbers.ts';
import { arrived, expired, router, TARGET, traceOver } from '../../test/trace-network.ts';

jest.setTimeout(300_000);

const DISTANCE = 6;

interface Tally {
  lost: number;
  sent: number;
}

/** What many traces say of the loss at the target, of a network that loses a share of all that leaves hop 2. */
async function lossShown(percent: number, packets: number, queries: number): Promise<number> {
  const next = numbers(1_234_567_891 + percent);
  const shown: Tally = { lost: 0, sent: 0 };
  while (shown.sent < packets) {
    const { outcome } = await traceOver(
      (sent) => {
        // Large packets look for the path MTU, and are none of the trace.
        if (sent.packet.length > 200) return [];
        if (sent.ttl > 2 && next(10_000) < percent * 100) return [];
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
  return (100 * shown.lost) / shown.sent;
}

describe('the loss at the target that traces show', () => {
  it.each([
    [5, 3],
    [20, 3],
    [40, 3],
    [40, 10],
    [0, 3],
  ])('is within two points of %i %% over a thousand packets, with %i queries', async (percent, queries) => {
    const shown = await lossShown(percent, 1_000, queries);

    expect(Math.abs(shown - percent)).toBeLessThanOrEqual(2);
  });
});

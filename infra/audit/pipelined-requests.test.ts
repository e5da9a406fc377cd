import { describe, expect, it } from '@jest/globals';

import { MOST_PERCENT, percentOfAnswers, sendPipelines } from './pipelined-requests.ts';

const CONNECTIONS = 40;
/** The coordinator is asked at the end, so its work is counted however long it takes. */
const STAYS_MS = 500;

describe('requests that one process sends without reading an answer', () => {
  it('cost the coordinator a fraction of what answers would, and refuse nothing to others', async () => {
    const reports = await sendPipelines([CONNECTIONS], STAYS_MS);
    const [attacked] = reports.attacked;

    expect(attacked!.refused).toBe(0);
    expect(percentOfAnswers(reports, attacked!)).toBeLessThan(MOST_PERCENT);
  });
});

import { describe, expect, it } from '@jest/globals';

import { MOST_CPU_MS, sendPipelines } from './pipelined-requests.ts';

/** Time limit; an idle machine needs a fraction of it. */
const WITHIN_MS = 180_000;
const CONNECTIONS = 40;

describe('requests that one process sends without reading an answer', () => {
  it(
    'cost the coordinator hardly more than none, and refuse nothing to others',
    async () => {
      const [quiet, attacked] = await sendPipelines([0, CONNECTIONS]);

      expect(attacked!.refused).toBe(0);
      expect(attacked!.cpuMs - quiet!.cpuMs).toBeLessThan(MOST_CPU_MS);
    },
    WITHIN_MS,
  );
});

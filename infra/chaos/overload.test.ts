import { describe, expect, it } from '@jest/globals';

import { startDeployment } from './deployment.ts';
import { loadOnce } from './overload.ts';
import { INDULGENCE_MS } from './trial.ts';

describe('a service that gets more checks than its probes can do', () => {
  it('refuses what is too much, and ends what it has accepted', async () => {
    const deployment = await startDeployment({ agents: 2, store: 'single', agentEnv: { CONCURRENCY: '2' } });
    try {
      let tally = await loadOnce(deployment, 3, 3_000, 15, INDULGENCE_MS);
      // A machine that stalls for these seconds sends too few checks.
      while (tally.accepted === 0 || tally.refused === 0) {
        tally = await loadOnce(deployment, 3, 3_000, 15, INDULGENCE_MS);
      }

      // On a busy machine Redis itself may need longer than a request waits for it, which no fault of the trial
      // explains.
      expect(tally.notes.filter((note) => !/^unexplained: .*\/problems\/unavailable"/.test(note))).toEqual([]);
    } finally {
      await deployment.stop();
    }
  }, 600_000);
});

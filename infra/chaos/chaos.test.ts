import { describe, expect, it } from '@jest/globals';

import { startDeployment } from './deployment.ts';
import { faults } from './faults.ts';
import type { Tally } from './ledger.ts';
import { loadOnce } from './overload.ts';
import { runChaos } from './run.ts';

/** Where others keep the machine busy, two seconds after a deadline are no measure. */
const INDULGENCE_MS = 20_000;

/** What must be none, whatever happens. */
function broken({
  fault,
  late,
  changed,
  lost,
  deaf,
  unanswered,
  wrong,
  refusedWithoutRetryAfter,
  notes,
}: Tally): object {
  return { fault, late, changed, lost, deaf, unanswered, wrong, refusedWithoutRetryAfter, notes };
}

function unbroken({ fault }: Tally): object {
  const none = { late: 0, changed: 0, lost: 0, deaf: 0, unanswered: 0, wrong: 0, refusedWithoutRetryAfter: 0 };
  return { fault, ...none, notes: [] };
}

describe('a service with two coordinators and three probes, whatever dies', () => {
  it('keeps every promise, in a trial of each fault', async () => {
    // A rolling restart has a test of its own.
    const onOneServer = faults.filter(({ name, store }) => store !== 'sentinel' && !name.startsWith('rolling'));

    const { tallies, skipped } = await runChaos({
      ...{ faults: onOneServer, store: 'single', seed: 7, durationMs: 0, rate: 5, scale: 0.25 },
      ...{ indulgenceMs: INDULGENCE_MS, report: () => undefined },
    });

    expect(tallies.map(broken)).toEqual(tallies.map(unbroken));
    expect(tallies.reduce((sum, { accepted }) => sum + accepted, 0)).toBeGreaterThan(0);
    // A browser may not be there; a small disk needs root.
    expect(tallies.length + skipped.length).toBe(onOneServer.length);
    expect(skipped.every((text) => /browser|disk/.test(text))).toBe(true);
  }, 900_000);

  it('refuses what is too much, and ends what it has accepted', async () => {
    const deployment = await startDeployment({ agents: 2, store: 'single', agentEnv: { CONCURRENCY: '2' } });
    try {
      const tally = await loadOnce(deployment, 3, 5_000, 15, INDULGENCE_MS);

      expect(tally).toMatchObject({
        late: 0,
        changed: 0,
        lost: 0,
        unanswered: 0,
        wrong: 0,
        refusedWithoutRetryAfter: 0,
      });
      expect(tally.accepted).toBeGreaterThan(0);
      expect(tally.refused).toBeGreaterThan(0);
    } finally {
      await deployment.stop();
    }
  }, 600_000);
});

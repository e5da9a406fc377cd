import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Monitor } from '@vantage/contract';
import { setTimeout as sleep } from 'node:timers/promises';

import { startMonitorTrial, type MonitorTrial } from './service.ts';

const MONITORS = 30;
const HOUR_MS = 3_600_000;
/** Delay that only a missed tick has. */
const LATE_MS = 600_000;

let trial: MonitorTrial | undefined;

beforeAll(async () => {
  trial = await startMonitorTrial(MONITORS, 'single');
});
afterAll(() => trial?.stop());

async function readUntil(isSo: (monitors: readonly Monitor[]) => boolean): Promise<readonly Monitor[]> {
  for (;;) {
    const monitors = await trial!.read();
    if (isSo(monitors)) return monitors;
    await sleep(500);
  }
}

describe('the ticks of monitors after a step of the clock of Redis', () => {
  it.each([
    ['an hour forward', HOUR_MS],
    ['back again', 0],
  ])(
    '%s: they go on, and those that were missed are not started all at once',
    async (_where, offMs) => {
      const before = await readUntil((monitors) => monitors.every(({ runs }) => runs.length > 0));
      const last = new Map(before.map(({ name, runs }) => [name, runs[0]!.tick]));
      trial!.store.host!.stepClock(offMs);
      const after = await readUntil((monitors) =>
        monitors.every(({ name, runs }) => runs[0]!.tick > last.get(name)! + 2),
      );

      const late = after
        .flatMap(({ name, runs }) => runs.filter(({ tick }) => tick > last.get(name)!))
        .filter(({ scheduledAt, startedAt }) => Date.parse(startedAt!) - Date.parse(scheduledAt) > LATE_MS);
      // Only ticks that were being started at the moment of the step may be late.
      expect(late.length).toBeLessThan(MONITORS / 3);
      // A check in progress may have lost its result, which is no statement about the target.
      expect((await trial!.changes()).filter(({ to }) => to === 'bad')).toEqual([]);
    },
    600_000,
  );
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Monitor } from '@vantage/contract';
import { setTimeout as sleep } from 'node:timers/promises';

import { startMonitorTrial, type MonitorTrial } from './service.ts';

const MONITORS = 12;
const HOUR_MS = 3_600_000;
/** Between the delays of a busy machine and the step: a larger difference of two times is due to the step. */
const LATE_MS = 600_000;

let trial: MonitorTrial | undefined;

beforeAll(async () => {
  trial = await startMonitorTrial(MONITORS, 'single', 2);
});
afterAll(() => trial?.stop());

/** Reads one monitor after the other until each is as wanted, and then all of them. */
async function readUntil(isSo: (monitor: Monitor) => boolean): Promise<readonly Monitor[]> {
  for (const [index] of trial!.names.entries()) {
    while (!isSo(await trial!.readOne(index))) await sleep(500);
  }
  return trial!.read();
}

describe('the ticks of monitors after a step of the clock of Redis', () => {
  it.each([
    ['an hour forward', HOUR_MS],
    ['back again', 0],
  ])(
    '%s: they go on, and those that were missed are not started all at once',
    async (_where, offMs) => {
      // At the first step no tick may have been started yet.
      const last = new Map((await trial!.read()).map(({ name, runs }) => [name, runs[0]?.tick ?? -1]));
      trial!.store.host!.stepClock(offMs);
      const isNewTime = (time: string): boolean => Math.abs(Date.parse(time) - Date.now() - offMs) < LATE_MS;
      const after = await readUntil(
        ({ name, runs: [newest] }) =>
          newest !== undefined && newest.tick > last.get(name)! && isNewTime(newest.scheduledAt),
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

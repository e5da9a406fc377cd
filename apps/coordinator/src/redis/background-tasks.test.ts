import { afterEach, describe, expect, it } from '@jest/globals';

import { quiet, until } from '../../test/core-bed.ts';
import { startBackgroundTasks, type BackgroundTask, type BackgroundTasks } from './background-tasks.ts';

let tasks: BackgroundTasks | undefined;

afterEach(async () => tasks?.stop());

function start(...list: readonly BackgroundTask[]): BackgroundTasks {
  tasks = startBackgroundTasks(list, quiet, 2);
  return tasks;
}

describe('the background tasks of a coordinator', () => {
  it('are named while they do not come to an end of their work; the others go on', async () => {
    const held = Promise.withResolvers<void>();
    let runs = 0;
    const { stalled } = start(
      { name: 'stuck', everyMs: 60_000, run: () => held.promise },
      { name: 'busy', everyMs: 1, run: async () => void (runs += 1) },
    );
    const before = stalled();

    await until(async () => stalled().length > 0 && runs > 10);

    expect([before, stalled()]).toEqual([[], ['stuck']]);
    held.resolve();
    await until(async () => stalled().length === 0);
  });

  it('are not stalled while they wait for their next time', async () => {
    const { stalled } = start({ name: 'rare', everyMs: 60_000, run: async () => undefined });
    let turns = 0;

    await until(async () => (turns += 1) > 20);

    expect(stalled()).toEqual([]);
  });

  it('go on after work that failed', async () => {
    let runs = 0;
    const { stalled } = start({
      name: 'failing',
      everyMs: 60_000,
      run: async () => {
        runs += 1;
        throw new Error('no');
      },
    });

    await until(async () => runs > 2);

    expect(stalled()).toEqual([]);
  });

  it('go on after work that failed before it returned a promise', async () => {
    let runs = 0;
    const { stalled } = start({
      name: 'throwing',
      everyMs: 60_000,
      run: () => {
        runs += 1;
        throw new Error('no');
      },
    });

    await until(async () => runs > 2);

    expect(stalled()).toEqual([]);
  });

  it('are run again at once while there is more to do', async () => {
    let runs = 0;
    start({ name: 'full', everyMs: 3_600_000, run: async () => ((runs += 1) < 20 ? 'again' : undefined) });

    await until(async () => runs === 20);

    expect(runs).toBe(20);
  });
});

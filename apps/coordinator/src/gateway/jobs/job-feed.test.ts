import { setImmediate as turn } from 'node:timers/promises';

import { afterEach, describe, expect, it } from '@jest/globals';

import { quiet, until } from '../../../test/core-bed.ts';
import { createJobFeed, type JobFeed } from './job-feed.ts';
import type { ActiveJob, ProbeJobs, TakenJob } from './probe-jobs.ts';

let feed: JobFeed | undefined;

afterEach(() => feed?.stop());

const job = (id: string): TakenJob => ({ id, name: 'tcp', data: '{}', timestamp: 1 });

/** A fake queue, in memory. */
function queue(...ids: readonly string[]) {
  const waiting = [...ids];
  const active: ActiveJob[] = [];
  let isAway = false;
  const jobs: ProbeJobs = {
    take: async (most) => {
      const taken = waiting.splice(0, most).map(job);
      active.push(...taken.map((one) => ({ ...one, taker: 'me' })));
      if (isAway) throw Object.assign(new Error('away'), { name: 'StoreUnavailable' });
      return { jobs: taken, waiting: waiting.length };
    },
    active: async () => [...active],
    discard: async (gone) => {
      for (const id of gone) active.splice(0, active.length, ...active.filter((one) => one.id !== id));
    },
  };
  return { waiting, active, jobs, goAway: (away: boolean) => (isAway = away) };
}

function open(
  jobs: ProbeJobs,
  credit: number,
  nowMs?: () => number,
): { readonly given: string[]; readonly interrupted: string[] } {
  const [given, interrupted]: [string[], string[]] = [[], []];
  feed = createJobFeed({
    jobs,
    credit,
    instance: 'me',
    log: quiet,
    leftMs: async () => 15_000,
    ...(nowMs && { nowMs }),
    give: ({ id }) => given.push(id),
    isConnected: async (instance) => instance === 'living',
    interrupt: async (id) => void interrupted.push(id),
  });
  return { given, interrupted };
}

const settle = async (): Promise<void> => {
  for (let count = 0; count < 20; count += 1) await turn();
};

describe('the feed of jobs', () => {
  it('gives a job that came while all slots were taken as soon as one is free', async () => {
    const { jobs, waiting } = queue('a');
    const { given } = open(jobs, 1);
    feed!.wake();
    await settle();
    waiting.push('b');
    feed!.wake();
    await settle();
    const before = [...given];

    feed!.release('a');
    await settle();

    expect(before).toEqual(['a']);
    expect(given).toEqual(['a', 'b']);
  });

  it('gives a job again whose reply was lost, and none that the agent has ended', async () => {
    const { jobs, waiting, active, goAway } = queue('a');
    const { given } = open(jobs, 5);
    feed!.wake();
    await settle();
    feed!.release('a');
    goAway(true);
    waiting.push('lost');
    feed!.wake();
    await settle();
    goAway(false);

    await until(() => given.includes('lost'));
    feed!.finish('a');
    feed!.finish('lost');
    await until(() => active.length === 0);

    expect(given).toEqual(['a', 'lost']);
  });

  it('reports jobs of an agent that is gone, and leaves those of one that lives', async () => {
    const { jobs, active } = queue();
    active.push({ ...job('gone'), taker: 'dead' }, { ...job('kept'), taker: 'living' });
    const { given, interrupted } = open(jobs, 5);
    feed!.wake();

    await until(() => interrupted.length > 0);
    await until(() => active.length === 1);

    expect([interrupted, given, active.map(({ id }) => id)]).toEqual([['gone'], [], ['kept']]);
  });

  it('notices an agent that has a job long after its deadline, until it ends one', async () => {
    let now = 1_000;
    const { jobs, waiting } = queue('a', 'b');
    open(jobs, 5, () => now);
    feed!.wake();
    await settle();
    const found = [feed!.isStuck()];

    now += 24_999;
    found.push(feed!.isStuck());
    now += 1;
    found.push(feed!.isStuck());
    waiting.push('c');
    feed!.wake();
    await settle();
    found.push(feed!.isStuck());
    feed!.release('b');
    found.push(feed!.isStuck());

    expect(found).toEqual([false, false, true, true, false]);
  });

  it('takes a job out of the queue that has ended long ago, though the agent never says that it is done', async () => {
    const { jobs, active } = queue(...Array.from({ length: 1_003 }, (_, index) => `job-${index}`));
    const { given } = open(jobs, 10);
    feed!.wake();
    for (let next = 0; next < 1_003; next += 1) {
      while (given[next] === undefined) await settle();
      feed!.release(given[next]!);
    }

    await until(() => active.length <= 1_000);

    expect(active.map(({ id }) => id)).toEqual(given.slice(3));
  });

  it('knows nothing of an agent without jobs', () => {
    open(queue().jobs, 5);

    expect(feed!.isStuck()).toBe(false);
  });
});

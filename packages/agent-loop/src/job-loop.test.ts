import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';

import { createJobLoop, type JobLoop, type JobSource } from './job-loop.ts';
import { createPace } from './pace.ts';
import { silent } from '../test/silent.ts';
import { eventually } from '../test/eventually.ts';

/** A queue in memory with a round trip; it counts its commands. */
interface FakeQueue extends JobSource<string> {
  readonly add: (...ids: readonly string[]) => void;
  readonly commands: Record<'wait' | 'take' | 'finish', number>;
  readonly finished: readonly string[];
  /** True while the loop waits for a job: then it takes nothing. */
  isWaited: boolean;
  fault: string | undefined;
}

function queue(rttMs = 1): FakeQueue {
  const waiting: string[] = [];
  const finished: string[] = [];
  let added = Promise.withResolvers<void>();
  let isStopped = false;
  const fake: FakeQueue = {
    commands: { wait: 0, take: 0, finish: 0 },
    finished,
    isWaited: false,
    fault: undefined,
    idOf: (id) => id,
    add: (...ids) => {
      waiting.push(...ids);
      added.resolve();
    },
    wait: async () => {
      fake.commands.wait += 1;
      fake.isWaited = true;
      while (waiting.length === 0 && !isStopped) {
        added = Promise.withResolvers();
        await added.promise;
      }
      const id = isStopped ? undefined : waiting.shift();
      await sleep(rttMs / 2);
      fake.isWaited = false;
      return id;
    },
    stopWaiting: () => {
      isStopped = true;
      added.resolve();
    },
    take: async () => {
      fake.commands.take += 1;
      await sleep(rttMs / 2);
      if (fake.fault !== undefined) throw new Error(fake.fault);
      const id = waiting.shift();
      await sleep(rttMs / 2);
      return id;
    },
    finish: async (id, next) => {
      fake.commands.finish += 1;
      await sleep(rttMs / 2);
      if (fake.fault !== undefined) throw new Error(fake.fault);
      finished.push(id);
      return next ? waiting.shift() : undefined;
    },
  };
  return fake;
}

function loopOf(
  source: FakeQueue,
  run: (id: string) => Promise<void>,
  concurrency = 20,
  isAside?: (id: string) => boolean,
): JobLoop<string> {
  const loop = createJobLoop({ source, concurrency, isAside, pace: createPace(), rttMs: () => 0, run, log: silent });
  loop.start();
  return loop;
}

/** Runs of some milliseconds that wait until so many run at once, and the most that ever did. */
function countedRun(full: number): { readonly run: () => Promise<void>; readonly most: () => number } {
  const isFull = Promise.withResolvers<void>();
  let [running, most] = [0, 0];
  return {
    run: async () => {
      most = Math.max(most, (running += 1));
      if (running === full) isFull.resolve();
      await isFull.promise;
      await sleep(2);
      running -= 1;
    },
    most: () => most,
  };
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `job-${index}`);

describe('the loop that takes jobs', () => {
  it('runs each job once and takes it out of the queue', async () => {
    const source = queue();
    const ran: string[] = [];
    const loop = loopOf(source, async (id) => void ran.push(id));

    source.add(...names(100));
    await eventually(() => (source.finished.length === 100 ? true : undefined));

    expect(ran.toSorted()).toEqual(names(100).toSorted());
    await loop.stop();
  });

  it('asks the queue twice for a job that comes alone, and removes it once', async () => {
    const source = queue();
    const loop = loopOf(source, async () => undefined);
    await eventually(() => (source.commands.wait === 1 ? true : undefined));
    const before = { ...source.commands };

    source.add('job');
    await eventually(() => (source.commands.wait > before.wait ? true : undefined));
    await sleep(20);

    expect(source.commands).toEqual({ wait: before.wait + 1, take: before.take + 1, finish: before.finish + 1 });
    void loop.stop();
  });

  it('asks for all of ten at once where Redis is far, behind the first', async () => {
    const source = queue();
    const asked: (() => void)[] = [];
    let isHeld = false;
    const far = {
      ...source,
      // Each answer is on its way until the test lets it arrive.
      take: async () => {
        if (isHeld) await new Promise<void>((resolve) => asked.push(resolve));
        return source.take();
      },
    };
    const [held, ran] = [Promise.withResolvers<void>(), [] as string[]];
    const run = async (id: string): Promise<void> => {
      ran.push(id);
      await held.promise;
    };
    const loop = createJobLoop({
      ...{ source: far, concurrency: 20, pace: createPace(), rttMs: () => 100, log: silent, run },
    });
    loop.start();
    await eventually(() => (source.isWaited ? true : undefined));
    isHeld = true;

    source.add(...names(10));
    await eventually(() => (asked.length === 16 ? true : undefined));

    expect(ran).toEqual(['job-0']);
    isHeld = false;
    for (const answer of asked.splice(0)) answer();
    await eventually(() => (ran.length === 10 ? true : undefined));
    held.resolve();
    await loop.stop();
    expect(source.finished).toHaveLength(10);
  });

  it('runs a job that its wait was just given when it is stopped', async () => {
    const source = queue();
    const ran: string[] = [];
    const loop = loopOf(source, async (id) => void ran.push(id));
    await eventually(() => (source.isWaited ? true : undefined));

    source.add('last');
    await Promise.resolve();
    await loop.stop();

    expect(source.finished).toEqual(ran);
    expect(source.isWaited).toBe(false);
  });

  it('runs a job whose answer was lost, once', async () => {
    const source = queue();
    const ran: string[] = [];
    const loop = loopOf(source, async (id) => void ran.push(id));

    await eventually(() => (source.isWaited ? true : undefined));
    loop.adopt('lost');
    loop.adopt('lost');
    source.add('lost', 'next');
    await eventually(() => (ran.includes('next') ? true : undefined));

    expect(ran.filter((id) => id === 'lost')).toHaveLength(1);
    await loop.stop();
  });

  it('turns while it waits, and not while the queue does not answer', async () => {
    const source = queue();
    const loop = loopOf({ ...source, wait: () => new Promise<undefined>(() => undefined) }, async () => undefined);
    await eventually(() => (source.commands.take > 0 ? true : undefined));
    await sleep(20);
    const before = loop.turns();
    await sleep(50);

    expect(loop.turns()).toBe(before);
    expect(loop.isFull()).toBe(false);
  });

  it('never runs more at once than it may, and uses all of its places', async () => {
    const source = queue();
    const { run, most } = countedRun(4);
    const loop = loopOf(source, run, 4);

    source.add(...names(60));
    await eventually(() => (source.finished.length === 60 ? true : undefined));

    expect(most()).toBe(4);
    await loop.stop();
  });

  it('waits for what runs when it is stopped, and leaves the rest in the queue', async () => {
    const source = queue();
    const held = Promise.withResolvers<void>();
    const loop = loopOf(source, () => held.promise, 2);
    source.add(...names(10));
    await eventually(() => (loop.running() === 2 ? true : undefined));

    const stopped = loop.stop();
    held.resolve();
    await stopped;

    expect(loop.running()).toBe(0);
    expect(source.finished).toHaveLength(2);
  });

  it('goes on after the queue refused for a while, and finishes what ran meanwhile', async () => {
    const source = queue();
    const ran: string[] = [];
    const loop = loopOf(source, async (id) => {
      ran.push(id);
      if (id === 'first') source.fault = 'NOPERM this user has no permissions';
    });
    source.add('first');
    await eventually(() => (ran.length === 1 ? true : undefined));
    await sleep(50);
    expect(source.finished).toEqual([]);
    source.add('second');
    await eventually(() => loop.refusal());
    expect(loop.refusal()).toBe('NOPERM');

    source.fault = undefined;
    await eventually(() => (source.finished.length === 2 ? true : undefined));
    await eventually(() => (loop.refusal() === undefined ? true : undefined));

    expect(ran).toEqual(['first', 'second']);
    await loop.stop();
  });

  it('knows what it was given, and nothing else', async () => {
    const source = queue();
    const loop = loopOf(source, async () => undefined);
    source.add('mine');
    await eventually(() => (source.finished.length === 1 ? true : undefined));

    expect(loop.knows('mine')).toBe(true);
    expect(loop.knows('another')).toBe(false);
    await loop.stop();
  });

  it('runs each job of a quick stream once, whichever way it is taken', async () => {
    const source = queue();
    const ran: string[] = [];
    const loop = loopOf(source, async (id) => {
      ran.push(id);
      await sleep(ran.length % 5);
    });
    for (const id of names(300)) {
      source.add(id);
      await sleep(1);
    }
    await eventually(() => (source.finished.length === 300 ? true : undefined));

    expect(ran.toSorted()).toEqual(names(300).toSorted());
    void loop.stop();
  });

  describe('with jobs that run aside', () => {
    const isAside = (id: string): boolean => id.startsWith('aside');

    it('runs them beside its places, which others take', async () => {
      const source = queue();
      const [ran, held] = [[] as string[], Promise.withResolvers<void>()];
      const run = async (id: string): Promise<void> => {
        ran.push(id);
        if (isAside(id)) await held.promise;
      };
      const loop = loopOf(source, run, 1, isAside);

      source.add('aside-1', 'aside-2', ...names(3));
      await eventually(() => (source.finished.length === 3 ? true : undefined));

      expect(ran.toSorted()).toEqual(['aside-1', 'aside-2', ...names(3)]);
      expect(source.finished.toSorted()).toEqual(names(3));
      expect(loop.running()).toBe(0);
      expect(loop.knows('aside-1')).toBe(true);
      held.resolve();
      await eventually(() => (source.finished.length === 5 ? true : undefined));
      await loop.stop();
    });

    it('waits for them when it is stopped, and takes none in exchange', async () => {
      const source = queue();
      const held = Promise.withResolvers<void>();
      const ran: string[] = [];
      const run = async (id: string): Promise<void> => {
        ran.push(id);
        await held.promise;
      };
      const loop = loopOf(source, run, 1, isAside);
      source.add('aside-1');
      // What was asked for before the stop may still come.
      await eventually(() => (ran.length === 1 && source.isWaited ? true : undefined));

      let isStopped = false;
      const stopped = loop.stop().then(() => (isStopped = true));
      source.add('job');
      await sleep(20);
      expect(isStopped).toBe(false);
      held.resolve();
      await stopped;

      expect(source.finished).toEqual(['aside-1']);
      expect(ran).toEqual(['aside-1']);
    });
  });

  describe('at a dense pace', () => {
    /** By its clock all jobs come at once, however slow the machine is. */
    function denseLoopOf(
      source: JobSource<string>,
      run: (id: string) => Promise<void>,
      concurrency = 20,
    ): JobLoop<string> {
      const loop = createJobLoop({ source, concurrency, pace: createPace(() => 0), rttMs: () => 0, run, log: silent });
      loop.start();
      return loop;
    }

    /** Adds three jobs every ten milliseconds until the loop rests with jobs that have ended and not left the queue. */
    async function untilPostponed(source: FakeQueue, ran: readonly string[]): Promise<readonly string[]> {
      const added: string[] = [];
      await eventually(() => {
        const ids = names(3).map((id) => `${added.length}-${id}`);
        added.push(...ids);
        source.add(...ids);
        return ran.length >= 30 && ran.length - source.finished.length >= 3 ? true : undefined;
      });
      return added;
    }

    it('spends little more than one command on a job', async () => {
      const source = queue();
      let added = 0;
      // Six come in each rest, however long the machine takes for it.
      const take = async (): Promise<string | undefined> => {
        const id = await source.take();
        if (id === undefined && added < 360) source.add(...names(6).map((name) => `${(added += 1)}-${name}`));
        return id;
      };
      const loop = denseLoopOf({ ...source, take }, async () => undefined);
      await eventually(() => (source.finished.length === 360 ? true : undefined));
      const { take: takes, finish, wait } = source.commands;

      expect(finish).toBe(360);
      // Three a job without the rests; some until the pace is known, and at each look one that finds nothing.
      expect(takes + wait).toBeLessThan(360 * 1.5);
      void loop.stop();
    });

    it('takes what has ended out of the queue when it is stopped, and nothing more into it', async () => {
      const source = queue();
      const ran: string[] = [];
      const loop = denseLoopOf(source, async (id) => void ran.push(id));
      await untilPostponed(source, ran);

      await loop.stop();

      expect(source.finished.toSorted()).toEqual(ran.toSorted());
      expect(loop.running()).toBe(0);
    });

    it('knows the jobs that have ended and are still in the queue', async () => {
      const source = queue();
      const ran: string[] = [];
      const loop = denseLoopOf(source, async (id) => void ran.push(id));
      await untilPostponed(source, ran);

      expect(ran.filter((id) => !loop.knows(id))).toEqual([]);
      await loop.stop();
    });

    it('takes what has ended out of the queue when no more jobs come', async () => {
      const source = queue();
      const ran: string[] = [];
      const loop = denseLoopOf(source, async (id) => void ran.push(id));
      const added = await untilPostponed(source, ran);

      await eventually(() => (source.finished.length === added.length ? true : undefined));

      expect(source.finished.toSorted()).toEqual([...added].toSorted());
      await loop.stop();
    });

    it('finishes what has ended once the queue takes it again', async () => {
      const source = queue();
      const ran: string[] = [];
      const loop = denseLoopOf(source, async (id) => void ran.push(id));
      const added = await untilPostponed(source, ran);
      source.fault = 'NOPERM';
      await sleep(100);

      source.fault = undefined;
      await eventually(() => (source.finished.length === added.length ? true : undefined));

      expect(ran.toSorted()).toEqual([...added].toSorted());
      await loop.stop();
    });

    it('never runs more at once than it may', async () => {
      const source = queue();
      const { run, most } = countedRun(3);
      const loop = denseLoopOf(source, run, 3);
      for (let tick = 0; tick < 30; tick += 1) {
        source.add(...names(8).map((id) => `${tick}-${id}`));
        await sleep(10);
      }
      await eventually(() => (source.finished.length === 240 ? true : undefined));

      expect(most()).toBe(3);
      await loop.stop();
    });
  });
});

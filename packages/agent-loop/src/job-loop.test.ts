import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it, jest } from '@jest/globals';

import { createJobLoop, type JobLoop, type JobSource } from './job-loop.ts';
import { silent } from '../test/silent.ts';
import { eventually } from '../test/eventually.ts';

/** A queue in memory that replies to takes in their order, and counts its commands. */
interface FakeQueue extends JobSource<string> {
  readonly add: (...ids: readonly string[]) => void;
  readonly commands: Record<'next' | 'read' | 'finish', number>;
  readonly finished: readonly string[];
  /** Timeouts of the pending takes, seconds. */
  readonly questions: () => readonly number[];
  /** Replies to the oldest pending take that there is no job. */
  readonly timeOut: () => void;
  fault: string | undefined;
}

interface Question {
  readonly waitSeconds: number;
  readonly answer: (id: string | null | undefined) => void;
}

function queue(): FakeQueue {
  const waiting: string[] = [];
  const finished: string[] = [];
  const questions: Question[] = [];
  let isStopped = false;
  const serve = (): void => {
    while (waiting.length > 0 && questions.length > 0) questions.shift()!.answer(waiting.shift());
  };
  const fake: FakeQueue = {
    commands: { next: 0, read: 0, finish: 0 },
    finished,
    fault: undefined,
    questions: () => questions.map(({ waitSeconds }) => waitSeconds),
    timeOut: () => questions.shift()?.answer(null),
    add: (...ids) => {
      waiting.push(...ids);
      serve();
    },
    next: async (waitSeconds) => {
      if (isStopped) return undefined;
      fake.commands.next += 1;
      if (fake.fault !== undefined) throw new Error(fake.fault);
      const { promise, resolve } = Promise.withResolvers<string | null | undefined>();
      questions.push({ waitSeconds, answer: resolve });
      serve();
      return promise;
    },
    stopWaiting: () => {
      isStopped = true;
      for (const { answer } of questions.splice(0)) answer(undefined);
    },
    read: async (id) => {
      fake.commands.read += 1;
      await sleep(1);
      if (fake.fault !== undefined) throw new Error(fake.fault);
      return id;
    },
    finish: async (ids) => {
      fake.commands.finish += 1;
      await sleep(1);
      if (fake.fault !== undefined) throw new Error(fake.fault);
      finished.push(...ids);
    },
  };
  return fake;
}

interface Overrides {
  readonly concurrency?: number;
  readonly isExempt?: (id: string) => boolean;
  readonly rttMs?: () => number;
  readonly onOddWait?: () => void;
}

function loopOf(source: JobSource<string>, run: (id: string) => Promise<void>, overrides: Overrides = {}): JobLoop {
  const loop = createJobLoop({ source, concurrency: 20, rttMs: () => 0, run, log: silent, ...overrides });
  loop.start();
  return loop;
}

/** A job runner whose first runs wait until `full` of them run at a time, and the highest concurrency so far. */
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

  it('asks for a job that comes alone once, reads it once and removes it once', async () => {
    const source = queue();
    const loop = loopOf(source, async () => undefined);
    const before = { ...source.commands };

    source.add('job');
    await eventually(() => (source.finished.length === 1 ? true : undefined));

    expect(source.commands).toEqual({ next: before.next + 1, read: before.read + 1, finish: before.finish + 1 });
    await loop.stop();
  });

  it('has two questions under way while no jobs come', async () => {
    const source = queue();
    const loop = loopOf(source, async () => undefined);
    for (let answers = 0; answers < 10; answers += 1) {
      expect(source.questions()).toEqual([3, 3]);
      source.timeOut();
      await eventually(() => (source.questions().length === 2 ? true : undefined));
    }
    await loop.stop();
  });

  it('asks for many more where Redis is far, before the first job is read, and for two when no more come', async () => {
    const source = queue();
    const reading = Promise.withResolvers<string>();
    const far = { ...source, read: async () => reading.promise };
    const loop = loopOf(far, async () => undefined, { rttMs: () => 100 });

    source.add('job-0', 'job-1', 'job-2');
    await eventually(() => (source.questions().length === 16 ? true : undefined));

    // Additional takes have short timeouts: all 16 together wait less than 10 s.
    expect(source.questions().reduce((sum, seconds) => sum + seconds)).toBeLessThan(10);
    for (let answers = 0; answers < 14; answers += 1) {
      source.timeOut();
      await Promise.resolve();
    }
    await eventually(() => (source.questions().length === 2 ? true : undefined));
    reading.resolve('job');
    await loop.stop();
  });

  it('never asks for more than it has places', async () => {
    const source = queue();
    const held = Promise.withResolvers<void>();
    const loop = loopOf(source, () => held.promise, { concurrency: 5, rttMs: () => 100 });

    source.add(...names(3));
    await eventually(() => (loop.running() === 3 ? true : undefined));

    expect(source.questions()).toHaveLength(2);
    expect(loop.isFull()).toBe(false);
    source.add(...names(9).slice(3));
    await eventually(() => (loop.running() === 5 ? true : undefined));
    expect(source.questions()).toHaveLength(0);
    expect(loop.isFull()).toBe(true);
    held.resolve();
    await loop.stop();
  });

  it('takes jobs that end at about the same time out of the queue together', async () => {
    const source = queue();
    const loop = loopOf(source, async () => undefined);

    source.add(...names(20));
    await eventually(() => (source.finished.length === 20 ? true : undefined));

    expect(source.commands.finish).toBeLessThan(10);
    await loop.stop();
  });

  it('runs a job that it was just given when it is stopped', async () => {
    const source = queue();
    const ran: string[] = [];
    const loop = loopOf(source, async (id) => void ran.push(id));

    source.add('last');
    await loop.stop();

    expect([source.finished, ran]).toEqual([['last'], ['last']]);
    expect(source.questions()).toEqual([]);
  });

  it('runs a job whose answer was lost, once, though the answer comes later', async () => {
    const source = queue();
    const ran: string[] = [];
    const loop = loopOf(source, async (id) => void ran.push(id));

    loop.adopt('lost');
    loop.adopt('lost');
    source.add('lost', 'next');
    await eventually(() => (ran.includes('next') ? true : undefined));
    await loop.stop();

    expect(ran.filter((id) => id === 'lost')).toHaveLength(1);
  });

  it('turns with each answer, with or without a job, and not while there is none', async () => {
    const source = queue();
    const lost = Promise.withResolvers<undefined>();
    let isLost = false;
    const loop = loopOf(
      { ...source, next: (seconds) => (isLost ? lost.promise : source.next(seconds)) },
      async () => undefined,
    );
    source.timeOut();
    await eventually(() => (loop.turns() === 1 ? true : undefined));
    isLost = true;
    source.add('job');
    await eventually(() => (source.finished.length === 1 ? true : undefined));
    source.timeOut();
    await eventually(() => (loop.turns() === 3 ? true : undefined));

    isLost = false;
    lost.resolve(undefined);
    await eventually(() => (source.questions().length === 2 ? true : undefined));
    expect([loop.turns(), loop.taken(), loop.isFull()]).toEqual([3, 1, false]);
    await loop.stop();
  });

  it('never runs more at once than it may, and uses all of its places', async () => {
    const source = queue();
    const { run, most } = countedRun(4);
    const loop = loopOf(source, run, { concurrency: 4 });

    source.add(...names(60));
    await eventually(() => (source.finished.length === 60 ? true : undefined));

    expect(most()).toBe(4);
    await loop.stop();
  });

  it('waits for what runs when it is stopped, and leaves the rest in the queue', async () => {
    const source = queue();
    const held = Promise.withResolvers<void>();
    const loop = loopOf(source, () => held.promise, { concurrency: 2 });
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
    // The job was taken but could not be read: the poll of active jobs finds it.
    loop.adopt('second');
    await eventually(() => (source.finished.length === 2 ? true : undefined));
    await eventually(() => (source.questions().length === 2 ? true : undefined));
    source.timeOut();
    await eventually(() => (loop.refusal() === undefined ? true : undefined));

    expect(ran).toEqual(['first', 'second']);
    await loop.stop();
  });

  it('turns while the queue refuses: a part of a cluster may be down, or a disk full', async () => {
    const source = queue();
    const next = async (): Promise<never> => {
      throw new Error('CLUSTERDOWN The cluster is down');
    };
    const loop = loopOf({ ...source, next }, async () => undefined);
    const before = await eventually(() => loop.turns());

    await eventually(() => (loop.turns() > before ? true : undefined));

    expect(loop.refusal()).toBe('CLUSTERDOWN');
    await loop.stop();
  });

  it('does not turn when a connection breaks off', async () => {
    const source = queue();
    const next = async (): Promise<undefined> => {
      await sleep(1);
      return undefined;
    };
    const loop = loopOf({ ...source, next }, async () => undefined);
    await sleep(50);

    expect([loop.turns(), loop.refusal()]).toEqual([0, undefined]);
    await loop.stop();
  });

  it('knows what it was given, also while it is read, and nothing else', async () => {
    const source = queue();
    const reading = Promise.withResolvers<string>();
    const loop = loopOf({ ...source, read: async () => reading.promise }, async () => undefined);
    source.add('mine');
    await eventually(() => (loop.taken() === 1 ? true : undefined));
    expect(loop.knows('mine')).toBe(true);
    reading.resolve('mine');
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

  describe('with jobs that are exempt from the limit', () => {
    const isExempt = (id: string): boolean => id.startsWith('exempt');

    it('runs them without taking slots, which other jobs use', async () => {
      const source = queue();
      const [ran, held] = [[] as string[], Promise.withResolvers<void>()];
      const run = async (id: string): Promise<void> => {
        ran.push(id);
        if (isExempt(id)) await held.promise;
      };
      const loop = loopOf(source, run, { concurrency: 1, isExempt });

      source.add('exempt-1', 'exempt-2', ...names(3));
      await eventually(() => (source.finished.length === 3 ? true : undefined));

      expect(ran.toSorted()).toEqual(['exempt-1', 'exempt-2', ...names(3)]);
      expect(source.finished.toSorted()).toEqual(names(3));
      expect(loop.running()).toBe(0);
      expect(loop.knows('exempt-1')).toBe(true);
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
      const loop = loopOf(source, run, { concurrency: 1, isExempt });
      source.add('exempt-1');
      await eventually(() => (ran.length === 1 ? true : undefined));

      let isStopped = false;
      const stopped = loop.stop().then(() => (isStopped = true));
      source.add('job');
      await sleep(20);
      expect(isStopped).toBe(false);
      held.resolve();
      await stopped;

      expect(source.finished).toEqual(['exempt-1']);
      expect(ran).toEqual(['exempt-1']);
    });
  });
});

describe('a wait for a job', () => {
  it.each([
    ['as long as asked for', [3_000, 3_000], 0],
    ['shorter: the clock of Redis was stepped forward', [3_000, 1_000], 1],
    ['longer: it was stepped back', [3_000, 4_000], 1],
  ])('that was %s', async (_how, waitsMs, odd) => {
    jest.useFakeTimers();
    try {
      const source = queue();
      let oddWaits = 0;
      const loop = loopOf(source, async () => undefined, { onOddWait: () => (oddWaits += 1) });
      loop.start();
      for (const ms of waitsMs) {
        await jest.advanceTimersByTimeAsync(ms);
        source.timeOut();
        await jest.advanceTimersByTimeAsync(0);
      }

      expect(oddWaits).toBe(odd);
      void loop.stop();
    } finally {
      jest.useRealTimers();
    }
  });
});

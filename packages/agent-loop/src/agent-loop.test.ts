import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { eventually } from '../test/eventually.ts';
import { startProbeRedis, type ProbeRedis } from '../test/probe-redis.ts';
import { silent } from '../test/silent.ts';
import { createAgentLoop, type AgentLoop } from './agent-loop.ts';
import type { JobRunner, RunnerLink, Work } from './job-runner.ts';
import { isWithdrawn } from './running-jobs.ts';

const PROBE = 'sim-1';
let redis: ProbeRedis;
let loop: AgentLoop | undefined;

beforeAll(async () => {
  redis = await startProbeRedis(PROBE);
});

afterEach(async () => {
  jest.restoreAllMocks();
  await loop?.close();
  loop = undefined;
});

afterAll(() => redis.stop());

function createLoop(
  run: (link: RunnerLink) => Work['run'],
  runner: Partial<JobRunner> = {},
  redisUrl = redis.url,
): AgentLoop {
  loop = createAgentLoop({
    probeId: PROBE,
    redisUrl,
    concurrency: 2,
    drainMs: 100,
    log: silent,
    open: async () => ({
      prepare: (link) => ({
        run: run(link),
        isExempt: () => false,
        isCheckId: (id) => id.length === 22,
        describe: () => ({
          version: '1.2.3',
          capabilities: { types: ['tcp'], ipv4: true, ipv6: false, screenshot: false },
          degraded: [],
        }),
      }),
      close: async () => undefined,
      ...runner,
    }),
  });
  return loop;
}

/** Shifts the monotonic clock, so that the clock of Redis seems to be stepped the other way. */
function shiftTime(ms: number): void {
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + ms);
}

const answering =
  ({ outlet }: RunnerLink): Work['run'] =>
  async (job, id) =>
    void outlet.final(id, JSON.stringify({ result: 'success', type: job.name }), Date.now() + 60_000);

describe('the loop of an agent', () => {
  it('gives each job to what runs them, reports what that says, and leaves nothing in the queue', async () => {
    const before = await redis.addJob();
    await createLoop(answering).start();
    const later = await Promise.all([redis.addJob(), redis.addJob(), redis.addJob()]);

    for (const check of [before, ...later]) {
      const result = await eventually(async () => (await redis.results()).get(check));
      expect(result).toEqual({ result: 'success', type: 'tcp' });
    }
    await eventually(async () => (await redis.left()) === 0 || undefined);
  });

  it('reports its version, load and slots in its heartbeat', async () => {
    await createLoop(answering).start();

    const heartbeat = await eventually(redis.heartbeat);

    expect(heartbeat).toMatchObject({ version: '1.2.3', load: { running: 0, capacity: 2 }, draining: false });
  });

  it('is degraded once its connection was lost three times in a minute', async () => {
    await createLoop(answering).start();
    const before = await eventually(redis.heartbeat);

    const after = await eventually(async () => {
      await redis.cut();
      const heartbeat = await redis.heartbeat();
      return String(heartbeat?.['degraded']) === '' ? undefined : heartbeat;
    });

    expect(before['degraded']).toEqual([]);
    expect(after['degraded']).toEqual([expect.stringMatching(/^Its connection to Redis is unstable/)]);
  });

  it.each([
    ['reports it as interrupted if the login is accepted again', false, { result: 'error' }],
    ['says nothing if the job was taken out of the queue', true, undefined],
  ])('ends a job when Redis refuses its login, and %s', async (_what, isTakenOut, expected) => {
    const signal = Promise.withResolvers<AbortSignal>();
    const waiting =
      ({ outlet }: RunnerLink): Work['run'] =>
      (_job, id, interrupted) =>
        new Promise((resolve) => {
          interrupted.addEventListener('abort', () => {
            if (!isWithdrawn(interrupted)) void outlet.final(id, '{"result":"success"}', Date.now() + 60_000);
            resolve();
          });
          signal.resolve(interrupted);
        });
    await createLoop(waiting, {}, await redis.addLogin()).start();
    const check = await redis.addJob();
    const running = await signal.promise;
    await redis.acceptLogin(false);
    await eventually(() => running.aborted || undefined);
    if (isTakenOut) await redis.takeOut(check);
    await redis.acceptLogin(true);
    await eventually(async () => (await redis.left()) === 0 || undefined);

    expect((await redis.results()).get(check)).toEqual(expected && expect.objectContaining(expected));
  });

  it('reports a job that does not end as interrupted when it drains, and closes what runs them', async () => {
    const taken = Promise.withResolvers<void>();
    let isClosed = false;
    const agent = createLoop(
      ({ outlet }) =>
        (_job, id, interrupted) =>
          new Promise((resolve) => {
            interrupted.addEventListener('abort', () => {
              void outlet.final(id, JSON.stringify({ result: 'error' }), Date.now() + 60_000);
              resolve();
            });
            taken.resolve();
          }),
      { close: async () => void (isClosed = true) },
    );
    await agent.start();
    const check = await redis.addJob();
    await taken.promise;

    await agent.drain();

    expect((await redis.results()).get(check)).toEqual({ result: 'error' });
    expect(await redis.heartbeat()).toBeUndefined();
    expect(isClosed).toBe(true);
  });

  it('leaves nothing behind that keeps the process when it is closed while it starts', async () => {
    const made = jest.spyOn(globalThis, 'setInterval');
    const cleared = [jest.spyOn(globalThis, 'clearInterval'), jest.spyOn(globalThis, 'clearTimeout')];
    let closed: Promise<void> | undefined;
    const agent = createLoop(answering, {
      prepare: ({ outlet }) => ({
        run: async () => void outlet,
        isExempt: () => false,
        isCheckId: () => true,
        // First called for the first heartbeat, before jobs are taken.
        describe: () => {
          closed ??= agent.close();
          return {
            version: '1',
            capabilities: { types: [], ipv4: true, ipv6: false, screenshot: false },
            degraded: [],
          };
        },
      }),
      started: () => {
        throw new Error('It has started all the same.');
      },
    });

    await agent.start();
    await closed;

    expect(closed).toBeDefined();
    const ended = new Set(cleared.flatMap((clear) => clear.mock.calls.map(([timer]) => timer)));
    const intervals = made.mock.results.map(({ value }) => value as NodeJS.Timeout);
    expect(intervals.length).toBeGreaterThan(0);
    expect(intervals.filter((interval) => !ended.has(interval))).toHaveLength(0);
  });

  it.each([
    ['this process stood still: no', false, () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_000)],
    ['the clock of Redis was stepped back: yes', true, () => shiftTime(4_000)],
  ])('announces its heartbeat after a wait that was too long because %s', async (_why, isAnnounced, disturb) => {
    await createLoop(answering).start();
    const announced = await redis.announcements();
    const waits = await redis.calls('blmove');
    await eventually(async () => (await redis.calls('blmove')) > waits || undefined);
    const [readings, before] = [await redis.calls('time'), announced()];

    disturb();

    await eventually(async () => (await redis.calls('time')) > readings || undefined);
    // Two waits later, an announcement caused by the disturbed wait has arrived.
    const then = await redis.calls('blmove');
    await eventually(async () => announced() > before || (await redis.calls('blmove')) > then + 1 || undefined);
    expect(announced() > before).toBe(isAnnounced);
  });

  it('rejects where what runs the jobs cannot be opened', async () => {
    loop = createAgentLoop({
      probeId: PROBE,
      redisUrl: redis.url,
      concurrency: 2,
      drainMs: 100,
      log: silent,
      open: async () => {
        throw new Error('nothing to measure with');
      },
    });

    await expect(loop.start()).rejects.toThrow('nothing to measure with');
  });
});

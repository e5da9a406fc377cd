import { HEARTBEAT_NOTIFICATION, JOB_QUEUE, redisKeys } from '@vantage/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { quiet, startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import type { OnAccess } from '../enrolment/access-watch.ts';
import { NO_ACCESS, type AgentAccess } from '../enrolment/agent-access.ts';
import { createProbeDirectory, type ProbeDirectory } from './probe-directory.ts';
import { describeAgent, statusOf, type KnownProbe } from './probe-status.ts';
import { createProbeValidators } from './probe-validators.ts';

const MANY = 250;
const announced = { announced: true };

let bed: CoreBed;

beforeAll(async () => {
  bed = await startCoreBed();
});

afterAll(async () => bed.stop());

describe('a coordinator', () => {
  it('reads a heartbeat that has changed when the agent announces it', async () => {
    await bed.addProbe('fra-1');
    // Without announcements each change would be noticed some ten seconds later.
    for (let times = 0; times < 20; times += 1) {
      const status = times % 2 === 0 ? 'degraded' : 'healthy';
      await bed.beat('fra-1', { ...announced, degraded: status === 'degraded' ? ['No raw sockets.'] : [] });
      await bed.redis.publish(redisKeys.resultNotification('fra-1'), HEARTBEAT_NOTIFICATION);
      await until(async () => (await bed.core.probes.list())['fra-1']?.status === status);
    }
    expect((await bed.core.probes.list())['fra-1']?.status).toBe('healthy');
  });
});

describe('what a coordinator knows of agents that announce changes', () => {
  let directory: ProbeDirectory;
  let access: AgentAccess;
  let accessChanged: OnAccess;
  let oversized: string[];
  let living: NodeJS.Timeout | undefined;

  beforeAll(async () => {
    await bed.core.close();
  });

  beforeEach(async () => {
    await bed.redis.flushall();
    oversized = [];
    access = NO_ACCESS;
    directory = createProbeDirectory({
      redis: bed.redis,
      validators: createProbeValidators(),
      log: quiet,
      clock: { now: async () => Date.now(), observe: () => undefined },
      access: {
        of: () => access,
        onChange: (listener) => {
          accessChanged = listener;
          return () => undefined;
        },
      },
      writes: { refusal: () => undefined },
      oversize: { note: (probe) => oversized.push(probe) },
      keptJobs: { note: () => undefined },
    });
  });

  afterEach(() => clearInterval(living));

  /** Keeps a gateway alive until the end of the test. */
  const keepGateway = async (id: string): Promise<void> => {
    const live = (): Promise<unknown> => bed.redis.set(redisKeys.gateway(id), '1', 'PX', 15_000);
    living = setInterval(() => void live().catch(() => undefined), 1_000);
    await live();
  };

  const add = async (id: string): Promise<void> => {
    const record = { id, name: id, datacenter: 'x', countryCode: 'DE', isp: 'x', asNumber: 'AS64496' };
    const place = { city: null, latitude: null, longitude: null, tags: [] };
    await bed.redis.set(redisKeys.probeRecord(id), JSON.stringify({ ...record, ...place }));
    await bed.redis.sadd(redisKeys.probeIds, id);
  };

  const read = async (id: string): Promise<KnownProbe | undefined> =>
    (await directory.refresh()).find(({ record }) => record.id === id);

  const countCommands = async (): Promise<number> =>
    Number(/total_commands_processed:(\d+)/.exec(await bed.redis.info('stats'))?.[1]);

  it('has a suspension before the next read', async () => {
    await add('off-1');
    await bed.beat('off-1');
    await directory.refresh();
    access = { ...NO_ACCESS, key: 'k', state: 'suspended', reason: 'Suspended by its operator.' };
    accessChanged('off-1', access);
    const before = await countCommands();
    const [probe] = await directory.probes();

    expect(describeAgent(probe!)).toMatchObject({ state: 'suspended', reason: 'Suspended by its operator.' });
    expect(statusOf(probe!)).toEqual({ status: 'offline', reason: 'Suspended by its operator.' });
    // The one command is the `INFO` of `countCommands`.
    expect((await countCommands()) - before).toBe(1);
  });

  it('costs a few commands each second, however many they are', async () => {
    const ids = Array.from({ length: MANY }, (_, index) => `idle-${index}`);
    for (const id of ids) {
      await add(id);
      await bed.beat(id, announced);
    }

    // The first read is of all probes, and on a slow machine a later one may be, too.
    await until(async () => {
      const before = await countCommands();
      await directory.refresh();
      return (await countCommands()) - before < MANY / 10;
    });

    expect((await directory.probes()).filter(({ alive }) => alive)).toHaveLength(MANY);
  });

  it('takes two commands for each that has no jobs and no results, and counts those of the others', async () => {
    const ids = Array.from({ length: MANY }, (_, index) => `idle-${index}`);
    for (const id of ids) {
      await add(id);
      await bed.beat(id, announced);
    }
    await directory.refresh();

    directory.noteAllChanged();
    const before = await countCommands();
    await directory.refresh();
    const used = (await countCommands()) - before;
    const jobs = `${redisKeys.queuePrefix('idle-7')}:${JOB_QUEUE}`;
    await bed.redis.lpush(`${jobs}:wait`, 'job-1', 'job-2');
    await bed.redis.lpush(`${jobs}:active`, 'job-0');
    await bed.redis.xadd(redisKeys.results('idle-8'), '*', 'check', 'x');
    directory.noteAllChanged();
    const known = await directory.refresh();

    expect(used).toBeLessThan(MANY * 2.2);
    const busy = known.filter(({ waiting, queued }) => waiting !== 0 || queued !== 0);
    expect(busy).toMatchObject([{ record: { id: 'idle-7' }, waiting: 2, queued: 3 }]);
    expect(directory.withEntries()).toEqual(['idle-8']);
  });

  it('includes the jobs that another coordinator gave them', async () => {
    await add('fra-1');
    await bed.beat('fra-1', announced);
    const before = await read('fra-1');
    await bed.redis.lpush(`${redisKeys.queuePrefix('fra-1')}:${JOB_QUEUE}:wait`, 'job-1', 'job-2');
    const after = await read('fra-1');

    expect([before?.waiting, after?.waiting]).toEqual([0, 2]);
  });

  it('includes results whose notification was lost', async () => {
    await add('fra-1');
    await bed.beat('fra-1', announced);
    await directory.refresh();
    await bed.redis.xadd(redisKeys.results('fra-1'), '*', 'check', 'x');

    await until(async () => {
      await bed.beat('fra-1', announced);
      await directory.refresh();
      return directory.withEntries().includes('fra-1');
    });

    expect(directory.withEntries()).toEqual(['fra-1']);
  });

  it('includes their return, if its announcement was lost', async () => {
    await add('fra-1');
    const before = await read('fra-1');
    await bed.beat('fra-1', announced);

    expect([before?.alive, (await read('fra-1'))?.alive]).toEqual([false, true]);
  });

  it('outlives a step back of the clock of Redis, after which no time to live is right', async () => {
    await add('fra-1');
    await bed.beat('fra-1', announced);
    await directory.refresh();
    await bed.redis.pexpire(redisKeys.heartbeat('fra-1'), 3_600_000);
    directory.noteActive(['fra-1'], 60_000);

    expect((await read('fra-1'))?.alive).toBe(true);
  });

  it('has no oversized heartbeat of a probe that has none', async () => {
    await add('absent-1');
    await add('long-1');
    await bed.redis.set(redisKeys.heartbeat('long-1'), 'x'.repeat(20_000), 'PX', 15_000);
    await directory.refresh();

    expect(oversized).toEqual(['long-1']);
  });

  it('ends with the sign of life of their gateway, and begins again with it', async () => {
    await add('fra-1');
    const gateway = { id: 'one', key: 'SHA256:a', counter: 1 };
    await bed.beat('fra-1', { ...announced, gateway });
    await bed.redis.persist(redisKeys.heartbeat('fra-1'));
    const before = await read('fra-1');
    // Repeated until it is seen: a busy machine may stall for as long as the sign of life is valid.
    await until(async () => {
      await bed.redis.set(redisKeys.gateway('one'), '1', 'PX', 3_000);
      return (await read('fra-1'))?.alive === true;
    });
    await until(async () => (await read('fra-1'))?.alive === false);
    const left = await bed.redis.exists(redisKeys.heartbeat('fra-1'));
    await keepGateway('one');

    expect([before?.alive, left]).toEqual([false, 1]);
    await until(async () => (await read('fra-1'))?.alive === true);
    expect((await read('fra-1'))?.lastSeenMs).toBeGreaterThan(Date.now() - 15_000);
  });

  it('does not read each of those at a gateway, but what is announced of one', async () => {
    const ids = Array.from({ length: MANY }, (_, index) => `idle-${index}`);
    const gateway = { id: 'one', key: 'SHA256:a', counter: 1 };
    await keepGateway('one');
    for (const id of ids) {
      await add(id);
      await bed.beat(id, { ...announced, gateway });
      await bed.redis.persist(redisKeys.heartbeat(id));
    }
    await directory.refresh();
    const silent = ids.slice(0, MANY / 2);
    await bed.redis.unlink(silent.map((id) => redisKeys.heartbeat(id)));
    const unread = (await directory.refresh()).filter(({ alive }) => alive).length;
    for (const id of silent) directory.noteChanged(id);
    const read = (await directory.refresh()).filter(({ alive }) => alive).length;

    // Without announcements, each refresh reads a few probes in rotation.
    expect(unread).toBeGreaterThan(MANY - 10);
    expect(read).toBe(MANY / 2);
  });

  it('reads all of them after announcements may have been lost', async () => {
    await add('fra-1');
    await add('fra-2');
    await keepGateway('one');
    for (const id of ['fra-1', 'fra-2']) {
      await bed.beat(id, { ...announced, gateway: { id: 'one', key: 'SHA256:a', counter: 1 } });
    }
    await directory.refresh();
    await bed.redis.del(redisKeys.heartbeat('fra-1'), redisKeys.heartbeat('fra-2'));
    directory.noteAllChanged();

    expect((await directory.refresh()).map(({ alive }) => alive)).toEqual([false, false]);
  });

  it('ends with their heartbeats', async () => {
    await add('fra-1');
    await until(async () => {
      await bed.beat('fra-1', announced);
      await bed.redis.pexpire(redisKeys.heartbeat('fra-1'), 2_000);
      return (await read('fra-1'))?.alive === true;
    });
    await until(async () => (await read('fra-1'))?.alive === false);
  });
});

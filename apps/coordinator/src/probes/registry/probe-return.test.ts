import { redisKeys } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';

import { quiet, startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import type { Core } from '../../core.ts';
import { NO_ACCESS } from '../enrolment/agent-access.ts';
import { createProbeDirectory } from './probe-directory.ts';
import { createProbeValidators } from './probe-validators.ts';

let bed: CoreBed;
let other: Core;
let beating: NodeJS.Timeout;
/** Instance IDs of the agents that send heartbeats, by probe. */
const runs = new Map<string, string>();

beforeAll(async () => {
  bed = await startCoreBed();
  other = bed.startCore();
  beating = setInterval(() => {
    for (const [id, instance] of runs) void bed.beat(id, { instance });
  }, 2_000);
});

afterAll(async () => {
  clearInterval(beating);
  await bed.stop();
});

async function beat(id: string, instance: string): Promise<void> {
  runs.set(id, instance);
  await bed.beat(id, { instance });
}

async function statusOf(core: Core, id: string): Promise<string | undefined> {
  return (await core.probes.list().catch(() => undefined))?.[id]?.status;
}

async function isEverywhere(id: string, status: string): Promise<void> {
  for (const core of [bed.core, other]) await until(async () => (await statusOf(core, id)) === status);
}

/** Simulates a last heartbeat of twenty seconds ago. */
async function silence(id: string): Promise<void> {
  runs.delete(id);
  await bed.redis.del(redisKeys.heartbeat(id));
  await isEverywhere(id, 'offline');
  await bed.redis.hset(redisKeys.lastSeen, id, Date.now() - 20_000);
}

describe('a probe that comes back', () => {
  it('is not taken for healthy before it has stayed, by no coordinator', async () => {
    await bed.addProbe('fra-1');
    await beat('fra-1', 'first');
    await isEverywhere('fra-1', 'healthy');

    await silence('fra-1');
    await beat('fra-1', 'first');
    await until(async () => (await bed.redis.hget(redisKeys.lastSeen, 'fra-1|back')) !== null);
    // Sets the time of the return in the future, so that even a slow machine reads it while the probe counts as just
    // back.
    await bed.redis.hset(redisKeys.lastSeen, 'fra-1|back', Date.now() + 3_600_000);
    await isEverywhere('fra-1', 'degraded');
    const reason = (await bed.core.probes.list())['fra-1']?.reason;
    // Simulates the passing of ten seconds.
    await bed.redis.hset(redisKeys.lastSeen, 'fra-1|back', Date.now() - 10_000);
    await isEverywhere('fra-1', 'healthy');

    expect(reason).toBe('It was offline and has come back a moment ago.');
  });

  it('is healthy at once if its agent was restarted', async () => {
    await bed.addProbe('nyc-1');
    await beat('nyc-1', 'first');
    await isEverywhere('nyc-1', 'healthy');

    await silence('nyc-1');
    await beat('nyc-1', 'second');
    const seen = new Set<string | undefined>();
    await until(async () => {
      const status = await statusOf(bed.core, 'nyc-1');
      seen.add(status);
      return status === 'healthy';
    });

    expect(seen).not.toContain('degraded');
  });

  it('has not been away if it was the coordinators that did not look', async () => {
    await bed.addProbe('par-1');
    await beat('par-1', 'first');
    await isEverywhere('par-1', 'healthy');
    // Another database, which no other coordinator reads.
    for (const key of [redisKeys.probeIds, redisKeys.probeRecord('par-1'), redisKeys.heartbeat('par-1')]) {
      await bed.redis.call('COPY', key, key, 'DB', '1');
    }
    const redis = new Redis(bed.server.url, { db: 1 });
    let now = Date.now();
    const clock = { now: async () => now, observe: () => undefined };
    const removed: string[] = [];
    const directory = createProbeDirectory({
      redis,
      clock,
      validators: createProbeValidators(),
      access: { of: () => NO_ACCESS, onChange: () => () => undefined },
      writes: { refusal: () => undefined },
      oversize: { note: () => undefined },
      keptJobs: { note: () => undefined },
      log: quiet,
    });
    directory.onRemoved((probe) => removed.push(probe));
    const poll = async (): Promise<boolean | undefined> =>
      (await directory.refresh()).find(({ record }) => record.id === 'par-1')?.justBack;
    await redis.pexpire(redisKeys.heartbeat('par-1'), 15_000);
    await poll();

    // Simulates a stall of the coordinator …
    now += 20_000;
    await redis.pexpire(redisKeys.heartbeat('par-1'), 15_000);
    const afterStandStill = await poll();
    // … and then a read without a heartbeat.
    await redis.rename(redisKeys.heartbeat('par-1'), 'aside');
    await poll();
    await redis.hset(redisKeys.lastSeen, 'par-1', now - 20_000);
    await redis.rename('aside', redisKeys.heartbeat('par-1'));
    const afterSilence = await poll();

    expect([afterStandStill, afterSilence]).toEqual([false, true]);
    expect(removed).toEqual([]);
    await redis.srem(redisKeys.probeIds, 'par-1');
    await poll();
    expect(removed).toEqual(['par-1']);
    redis.disconnect();
    await bed.core.probeRecords.remove('par-1');
  });

  it('leaves nothing behind when it is removed', async () => {
    await bed.core.probeRecords.remove('fra-1');
    await bed.core.probeRecords.remove('nyc-1');
    // A read in progress may write the last-seen times of removed probes once more.
    await until(async () => Object.keys(await bed.core.probes.list()).length === 0);
    await bed.core.probeRecords.remove('fra-1');
    await bed.core.probeRecords.remove('nyc-1');

    expect(await bed.redis.exists(redisKeys.lastSeen)).toBe(0);
  });
});

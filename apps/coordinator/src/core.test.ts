import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { redisKeys } from '@vantage/contract';
import { findRedisServer, freePort, type RedisServer, startRedisServer } from '@vantage/redis-server';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';

import { passDeadline, report, startLongCheck, success } from '../test/check-steps.ts';
import { PATIENT_MS, quiet, startCoreBed, until, type CoreBed } from '../test/core-bed.ts';
import { readEcho } from '../test/echo-type.ts';
import { createCore } from './core.ts';

const executable = findRedisServer(process.env['PATH'] ?? '')!;

describe('the core without Redis', () => {
  it('starts, refuses at once, and works when Redis comes', async () => {
    const port = await freePort();
    const dataFolder = mkdtempSync(join(tmpdir(), 'vantage-core-'));
    const core = createCore({
      redisUrl: `redis://127.0.0.1:${port}`,
      log: quiet,
      retentionSeconds: 60,
      lookUpPlace: () => {
        throw new Error('not asked');
      },
      monitors: { readDefinition: readEcho },
    });

    expect(await core.ready()).toEqual({
      redis: false,
      healthyProbes: 0,
      writeRefusal: undefined,
      isEmptied: false,
      stalledTasks: [],
    });
    await expect(core.probes.list()).rejects.toMatchObject({ name: 'StoreUnavailable' });
    await expect(core.checks.read('a'.repeat(22), 0, new AbortController().signal)).rejects.toMatchObject({
      name: 'StoreUnavailable',
    });
    const server = await startRedisServer({ executable, port, dataFolder });
    await until(async () => (await core.ready()).redis);

    expect(await core.probes.list()).toEqual(Object.create(null));
    await core.close();
    await server.stop();
    rmSync(dataFolder, { recursive: true });
  });
});

describe('the core and a Redis that goes away', () => {
  let bed: CoreBed;
  let dataFolder: string;
  let revived: RedisServer | undefined;

  beforeEach(async () => {
    dataFolder = mkdtempSync(join(tmpdir(), 'vantage-core-'));
    bed = await startCoreBed({ dataFolder, arguments: ['--appendfsync', 'always'] });
    for (const probe of ['fra-1', 'nyc-1']) {
      await bed.addProbe(probe);
      await bed.keepAlive(probe);
    }
    await until(async () => (await bed.core.ready()).healthyProbes === 2);
  });

  afterEach(async () => {
    await bed.stop();
    await revived?.stop();
    revived = undefined;
    rmSync(dataFolder, { recursive: true });
  });

  const die = async (): Promise<void> => {
    process.kill(bed.server.pid, 'SIGKILL');
    await bed.server.ended;
    await until(() => bed.core.rateLimitRedis.status !== 'ready');
  };
  const revive = async (): Promise<void> => {
    revived = await startRedisServer({ executable, dataFolder, port: bed.server.port });
  };

  it('keeps every accepted check when Redis is killed in the middle, and the callers who wait for it', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => bed.start({ probes: ['fra-1', 'nyc-1'] })));
    await Promise.all(ids.map((id) => report(bed.redis, 'fra-1', id, success('before'))));
    const waiting = ids.map((id) => bed.read(id, PATIENT_MS));
    // The reply to this read comes after those to the first reads of `waiting`, which now wait.
    await bed.read(ids[0]!);
    await die();
    await expect(bed.create()).rejects.toMatchObject({ name: 'StoreUnavailable' });
    await revive();
    await Promise.all(ids.map((id) => report(bed.redis, 'nyc-1', id, success('after'))));
    const checks = await Promise.all(waiting);

    for (const check of checks) {
      expect(check.status).toBe('completed');
      expect(check.results['fra-1']).toMatchObject({ result: 'success', said: 'before' });
      expect(check.results['nyc-1']).toMatchObject({ result: 'success', said: 'after' });
    }
    const id = await startLongCheck(bed, ['fra-1']);
    await report(bed.redis, 'fra-1', id, success('new'));
    expect((await bed.read(id, PATIENT_MS)).results['fra-1']).toMatchObject({ said: 'new' });
  });

  it('does not count the time without Redis against a result, and ends the check after it', async () => {
    const id = await bed.start({ probes: ['fra-1', 'nyc-1'] });
    await die();
    // Simulates an agent that kept a result and writes it as soon as Redis is back, before any coordinator reconnects.
    const elsewhere = await startRedisServer({ executable, dataFolder });
    const agent = new Redis(elsewhere.url);
    await passDeadline(agent, id);
    const deadlineAt = Number(await agent.hget(redisKeys.check(id), 'deadlineAt'));
    await until(() => Date.now() > deadlineAt + 500);
    await report(agent, 'fra-1', id, success('could not be written before'));
    agent.disconnect();
    await elsewhere.stop();
    await revive();
    await until(async () => (await bed.core.ready()).redis);
    const check = await bed.read(id, PATIENT_MS);

    expect(check.results['fra-1']).toMatchObject({ result: 'success', said: 'could not be written before' });
    expect(check.results['nyc-1']).toMatchObject({ result: 'timeout', error: { code: 'probe_timeout' } });
    expect(Date.parse(check.completedAt!)).toBeGreaterThan(deadlineAt + 500);
  });

  it('refuses while Redis hangs, without a try once that is known, and works again when it goes on', async () => {
    const id = await bed.start({ probes: ['fra-1'] });
    process.kill(bed.server.pid, 'SIGSTOP');

    await expect(bed.create()).rejects.toMatchObject({ name: 'StoreUnavailable' });
    await until(() => bed.core.rateLimitRedis.status !== 'ready');
    await expect(bed.read(id)).rejects.toMatchObject({
      name: 'StoreUnavailable',
      message: 'Redis is not connected',
    });
    process.kill(bed.server.pid, 'SIGCONT');
    await until(async () => (await bed.core.ready()).redis);
    await report(bed.redis, 'fra-1', id, success('alive'));

    expect((await bed.read(id, PATIENT_MS)).results['fra-1']).toMatchObject({ said: 'alive' });
    // The reply timeout of a command is shorter than the 1,850 ms that a request may wait for Redis, so that a client
    // gets its error within two seconds.
    expect(bed.core.rateLimitRedis.options.commandTimeout).toBeLessThan(1_850);
  });

  it('closes while Redis hangs', async () => {
    process.kill(bed.server.pid, 'SIGSTOP');

    // Redis continues only afterwards, so waiting for a reply would never end.
    await expect(bed.core.close()).resolves.toBeUndefined();
    process.kill(bed.server.pid, 'SIGCONT');
  });
});

describe('readiness', () => {
  it('counts the healthy probes', async () => {
    const bed = await startCoreBed();
    for (const probe of ['a', 'b', 'c']) await bed.addProbe(probe);
    await bed.beat('b', { degraded: ['No raw sockets.'] });
    await bed.keepAlive('a');

    await until(async () => (await bed.core.ready()).healthyProbes === 1);

    expect(await bed.core.ready()).toEqual({
      redis: true,
      healthyProbes: 1,
      writeRefusal: undefined,
      isEmptied: false,
      stalledTasks: [],
    });
    await bed.stop();
  });
});

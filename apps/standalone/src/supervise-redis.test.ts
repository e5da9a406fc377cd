import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { until } from '@vantage/test-support/until';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findRedisServer, startRedisServer } from '@vantage/redis-server';
import { Redis } from 'ioredis';

import { superviseRedis, type RedisProcess, type SupervisedRedis } from './supervise-redis.ts';

const executable = findRedisServer(process.env['PATH']!)!;
const SHIPPED = new URL('../../../infra/redis/redis.conf', import.meta.url);
/**
 * Settings that differ between deployments: addresses and ports, certificates, folders, logins, and the connections of
 * many agents.
 */
const OF_A_DEPLOYMENT = /^(port|bind|tls-|dir|aclfile|tcp-|maxclients)/;

async function configuration(url: string, names: readonly string[]): Promise<Record<string, string>> {
  const redis = new Redis(url);
  const values = await redis.config('GET', ...names);
  redis.disconnect();
  return Object.fromEntries(values.flatMap((name, index) => (index % 2 === 0 ? [[name, values[index + 1]!]] : [])));
}

describe('a Redis that is kept running', () => {
  let folder: string;
  let reported: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vantage-test-'));
    reported = [];
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  function keep(onChange: (redis: RedisProcess | null) => void = () => undefined): Promise<SupervisedRedis> {
    return superviseRedis({
      executable,
      dataFolder: folder,
      logFile: join(folder, 'log'),
      report: (line) => reported.push(line),
      onChange,
      signal: new AbortController().signal,
    });
  }

  async function answers(port: number): Promise<boolean> {
    const socket = connect({ port, host: '127.0.0.1' });
    try {
      await once(socket, 'connect');
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  }

  it('is started again on its port when it is killed, and its log goes on', async () => {
    const redis = await keep();
    const first = redis.running()!;
    process.kill(first.pid, 'SIGKILL');

    await until(() => redis.running() !== null && redis.running()!.pid !== first.pid);
    const second = redis.running()!;
    await redis.stop();

    expect(second.port).toBe(first.port);
    expect(reported).toEqual(['Redis exited; restarting it.']);
    expect(readFileSync(join(folder, 'log'), 'utf8').match(/Ready to accept connections/g)).toHaveLength(2);
  });

  it('has the bounds of the shipped configuration', async () => {
    const lines = readFileSync(SHIPPED, 'utf8').split('\n');
    const shared = lines.filter((line) => /^[a-z]/.test(line) && !OF_A_DEPLOYMENT.test(line));
    writeFileSync(join(folder, 'shipped.conf'), shared.join('\n'));
    const shipped = await startRedisServer({ executable, configFile: join(folder, 'shipped.conf') });
    const redis = await keep();
    const names = [...new Set(shared.map((line) => line.split(' ')[0]!))];

    const bounds = await configuration(redis.url, names);
    const expected = await configuration(shipped.url, names);
    await Promise.all([redis.stop(), shipped.stop()]);

    expect(Object.keys(expected)).toEqual(expect.arrayContaining(['maxmemory', 'client-output-buffer-limit']));
    expect(bounds).toEqual(expected);
  });

  it('is gone when it was stopped while it started again', async () => {
    const changes: (RedisProcess | null)[] = [];
    const redis = await keep((change) => changes.push(change));
    const { pid, port } = redis.running()!;
    process.kill(pid, 'SIGKILL');
    await until(() => changes.includes(null));

    await redis.stop();

    expect(await answers(port)).toBe(false);
  });
});

import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { Redis } from 'ioredis';

import { hasAnswered, type ConnectionLog } from './log-outages.ts';
import { openFailFast, openPatient } from './open.ts';

let server: RedisServer;
let admin: Redis;

beforeAll(async () => {
  const executable = findRedisServer(process.env['PATH'] ?? '');
  if (executable === undefined) throw new Error('These tests need redis-server or valkey-server.');
  server = await startRedisServer({ executable });
  admin = new Redis(server.url);
});

afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

describe('the log of a connection', () => {
  it('says once that its login is refused after the password was changed', async () => {
    const lines: string[] = [];
    const write = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
    const log: ConnectionLog = { info: write, warn: write };
    const user = ['~*', '+time', '+hello', '+client|setname'];
    await admin.call('ACL', 'SETUSER', 'probe-x', 'reset', 'on', '>first', ...user);
    const url = server.url.replace('redis://', 'redis://probe-x:first@');
    const redis = openPatient({ url, name: 'test', keyInUse: 'x', resend: false, log });
    while (redis.status !== 'ready') await sleep(10);

    await admin.call('ACL', 'SETUSER', 'probe-x', 'resetpass', '>second');
    await admin.call('CLIENT', 'KILL', 'USER', 'probe-x');
    // Waits until three logins were refused.
    for (let attempts = 0; attempts < 3;) {
      attempts = (await aclRefusals()) >= 3 ? 3 : 0;
      await sleep(20);
    }

    expect(lines.filter((line) => line.includes('WRONGPASS') && line.startsWith('Redis login rejected'))).toHaveLength(
      1,
    );
    redis.disconnect();
  });

  it('does not repeat itself while Redis is a replica, and says when it is the master again', async () => {
    const lines: string[] = [];
    const write = (_: object, message: string): void => void lines.push(message);
    const redis = openFailFast({ url: server.url, name: 'test', log: { info: write, warn: write } });
    let connections = 0;
    redis.on('ready', () => (connections += 1));
    while (redis.status !== 'ready') await sleep(10);

    await admin.call('REPLICAOF', '127.0.0.1', '1');
    const lost = (): number => lines.filter((line) => line === 'Redis connection lost').length;
    // Three are logged, and one for each time that the machine stalled for so long that a connection lasted.
    while (lost() === 0 || connections < 4 * lost()) {
      await redis.set('key', 'value').catch(() => undefined);
      await sleep(10);
    }
    await admin.call('REPLICAOF', 'NO', 'ONE');
    while (lines.at(-1) !== 'Redis connected') await sleep(20);

    expect(await redis.set('key', 'value')).toBe('OK');
    redis.disconnect();
  });

  it('says that it is connected when a Redis that stood still answers, not when its kernel accepts', async () => {
    const lines: string[] = [];
    const log: ConnectionLog = { info: (_, message) => void lines.push(message), warn: () => undefined };
    process.kill(server.pid, 'SIGSTOP');
    const redis = openPatient({ url: server.url, name: 'test', keyInUse: 'x', resend: false, log });
    while (redis.status !== 'ready') await sleep(10);
    const time = redis.time();
    const before = [hasAnswered(redis), [...lines]];

    process.kill(server.pid, 'SIGCONT');
    await time;

    expect(before).toEqual([false, []]);
    expect([hasAnswered(redis), lines]).toEqual([true, ['Redis connected']]);
    redis.disconnect();
  });
});

async function aclRefusals(): Promise<number> {
  const log = (await admin.call('ACL', 'LOG')) as readonly (readonly (string | number)[])[];
  return Number(log.find((entry) => entry.includes('auth'))?.[1] ?? 0);
}

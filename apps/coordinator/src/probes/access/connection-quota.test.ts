import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from '@jest/globals';
import { openFailFast } from '@vantage/redis-connections';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { Redis } from 'ioredis';

import { quiet, until } from '../../../test/core-bed.ts';
import { createConnectionQuota } from './connection-quota.ts';
import { refusedUser } from './large-requests.ts';

const PASSWORD = 'a-password-of-a-test';
const USERS = {
  off: ['user default off resetpass ~* &* +@all', `user coordinator on >${PASSWORD} ~* &* +@all`],
  password: [`user default on >${PASSWORD} ~* &* +@all`],
  open: ['user default on nopass ~* &* +@all'],
} as const;
/** Time for a login in these tests, and more than that. */
const LOGIN_WITHIN_SECONDS = 1;
const AGED_MS = 2_000;

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function start(users: readonly string[]): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-users-'));
  const aclFile = join(folder, 'users.acl');
  writeFileSync(aclFile, `${users.join('\n')}\n`);
  ends.push(() => rmSync(folder, { recursive: true }));
  const server = await startRedisServer({
    executable: findRedisServer(process.env['PATH'] ?? '')!,
    arguments: ['--aclfile', aclFile],
  });
  ends.push(() => server.stop());
  return server;
}

function coordinatorAt(url: string): Redis {
  const redis = openFailFast({ url, name: 'vantage:test', log: quiet });
  ends.push(() => redis.disconnect());
  return redis;
}

/** Opens a connection, sends the bytes and keeps it. */
async function hold(server: RedisServer, bytes: string): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
  ends.push(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(bytes);
  socket.resume();
  return socket;
}

/** Enforces the quota repeatedly until the connections are older than a login may take. */
async function pollUntilAged(redis: Redis): Promise<void> {
  const quota = createConnectionQuota(redis, LOGIN_WITHIN_SECONDS);
  const since = performance.now();
  await until(async () => {
    await quota.enforce();
    return performance.now() - since > AGED_MS;
  });
}

/** Number of times that Redis has run the command. */
async function callsOf(redis: Redis, command: string): Promise<number> {
  const line = (await redis.info('commandstats')).split('\n').find((each) => each.startsWith(`cmdstat_${command}:`));
  return Number(/calls=(\d+)/.exec(line ?? 'calls=0')?.[1]);
}

/** What a connection may send without a login. */
const BYTES = ['', 'PING\r\n', 'GET a\r\n', 'RESET\r\n', 'AUTH none wrong\r\n', 'HELLO 3\r\n', 'nothing\r\n', 'PI'];

describe('a connection without a login', () => {
  it.each([
    ['is off', USERS.off, 'coordinator'],
    ['has a password', USERS.password, ''],
  ])('is ended whatever it sends if the default user %s, and those with one stay', async (_how, users, user) => {
    const server = await start(users);
    const url = `redis://${user}:${PASSWORD}@127.0.0.1:${server.port}`;
    const redis = coordinatorAt(url);
    await once(redis, 'ready');
    const idle = new Redis(url, { retryStrategy: null });
    ends.push(() => idle.disconnect());
    await idle.ping();
    const login = user === '' ? `AUTH ${PASSWORD}` : `AUTH ${user} ${PASSWORD}`;
    const waiting = await hold(server, `${login}\r\nBLPOP none 0\r\n`);
    const strangers = await Promise.all(BYTES.map((bytes) => hold(server, bytes)));

    await pollUntilAged(redis);
    await until(async () => strangers.every(({ closed }) => closed));

    expect(waiting.closed).toBe(false);
    expect(await idle.ping()).toBe('PONG');
    expect(redis.status).toBe('ready');
  });

  it('does not exist if the default user needs no password: one with a request stays', async () => {
    const server = await start(USERS.open);
    const redis = coordinatorAt(server.url);
    await once(redis, 'ready');
    const [silent, active] = await Promise.all([hold(server, ''), hold(server, 'PING\r\n')]);

    await pollUntilAged(redis);
    await until(async () => silent.closed);

    expect(active.closed).toBe(false);
    // Users are read less often than connections are polled, and not before a connection is old enough.
    expect(await callsOf(redis, 'acl|getuser')).toBeLessThan(await callsOf(redis, 'client|list'));
  });

  it('is looked for without asking for the default user while all connections are logged in', async () => {
    const server = await start(USERS.password);
    const redis = coordinatorAt(`redis://:${PASSWORD}@127.0.0.1:${server.port}`);
    await once(redis, 'ready');

    await pollUntilAged(redis);

    expect(await callsOf(redis, 'acl|getuser')).toBe(0);
    expect(await callsOf(redis, 'client|list')).toBeGreaterThan(1);
  });
});

describe('the last refused request', () => {
  it.each(['client-info', 'age-seconds', 'secret'])('has a user, also if its key is named %s', async (key) => {
    const server = await start([...USERS.password, `user p-fra-1 on >${PASSWORD} ~mine &* +@all`]);
    const redis = coordinatorAt(`redis://:${PASSWORD}@127.0.0.1:${server.port}`);
    await once(redis, 'ready');
    await hold(server, `AUTH p-fra-1 ${PASSWORD}\r\nGET ${key}\r\n`);
    await until(async () => ((await redis.call('ACL', 'LOG', '1')) as readonly unknown[]).length > 0);

    expect(await refusedUser(redis)).toBe('p-fra-1');
  });
});

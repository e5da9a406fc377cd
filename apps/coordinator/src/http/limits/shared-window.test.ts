import { afterEach, describe, expect, it } from '@jest/globals';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { Redis } from 'ioredis';
import { pino } from 'pino';

import type { Charge } from './axes.ts';
import { createSharedWindow, type SharedWindow } from './shared-window.ts';
import type { Count } from './window.ts';

const executable = findRedisServer(process.env['PATH'] ?? '')!;
const open: { server: RedisServer | undefined; readonly clients: Redis[] } = { server: undefined, clients: [] };

afterEach(async () => {
  for (const client of open.clients.splice(0)) client.disconnect();
  if (open.server !== undefined) await open.server.stop();
  open.server = undefined;
});

/** Waits for an event; `once` of node:events would reject at the first failed connection attempt. */
function event(client: Redis, name: 'ready' | 'close'): Promise<void> {
  return new Promise((resolve) => client.once(name, () => resolve()));
}

/** A client that, like those of a coordinator, neither queues commands while it is disconnected nor retries them. */
async function connection(url: string, commandTimeout = PATIENT_MS): Promise<Redis> {
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout,
    retryStrategy: () => 20,
  });
  client.on('error', () => undefined);
  open.clients.push(client);
  await event(client, 'ready');
  return client;
}

/** Reply timeout longer than Redis takes on a busy machine. */
const PATIENT_MS = 60_000;

const axes = [{ key: '203.0.113.9', limit: 3 }];

async function admitted(window: SharedWindow, requests: number): Promise<boolean[]> {
  const counts = [];
  for (let i = 0; i < requests; i += 1)
    counts.push((await window.count({ name: 'bucket' }, { client: axes, target: [] })).admitted);
  return counts;
}

describe('the shared window', () => {
  it('counts what every coordinator admits', async () => {
    open.server = await startRedisServer({ executable });
    const [one, other] = [await connection(open.server.url), await connection(open.server.url)].map((redis) =>
      createSharedWindow(redis, pino({ level: 'silent' }), () => performance.now(), PATIENT_MS),
    ) as [SharedWindow, SharedWindow];

    expect(await admitted(one, 2)).toEqual([true, true]);
    expect(await admitted(other, 2)).toEqual([true, false]);
  });

  it('writes a grant if all axes admit the request, and only then', async () => {
    open.server = await startRedisServer({ executable });
    const redis = await connection(open.server.url);
    const window = createSharedWindow(redis, pino({ level: 'silent' }), () => performance.now(), PATIENT_MS);
    const count = (grant: string, target: Charge['target']): Promise<Count> =>
      window.count({ name: 'bucket' }, { client: axes, target, grant });
    const once = [{ key: 'target', limit: 1 }];

    const counts = [await count('a', once), await count('b', once), await count('c', []), await count('d', [])];

    const granted = counts.map(({ admitted: isAdmitted, refusedBy }) => isAdmitted && refusedBy === undefined);
    expect(granted).toEqual([true, false, true, false]);
    expect((await redis.keys('?')).toSorted()).toEqual(['a', 'c']);
    expect(await redis.pttl('a')).toBeGreaterThan(0);
  });

  it('says before the count is there whether anything is known here against a request', async () => {
    open.server = await startRedisServer({ executable });
    const [one, other] = [await connection(open.server.url), await connection(open.server.url)].map((redis) =>
      createSharedWindow(redis, pino({ level: 'silent' }), () => performance.now(), PATIENT_MS),
    ) as [SharedWindow, SharedWindow];
    await admitted(one, 3);
    const likely: string[] = [];
    const count = (window: SharedWindow, name: string): Promise<{ readonly admitted: boolean }> =>
      window.count({ name: 'bucket' }, { client: axes, target: [] }, () => void likely.push(name));

    const counts = [await count(one, 'one'), await count(other, 'other')];

    expect(counts.map(({ admitted: isAdmitted }) => isAdmitted)).toEqual([false, false]);
    expect(likely).toEqual(['other']);
  });

  it('counts on in memory while Redis is away, and in Redis when it is back', async () => {
    open.server = await startRedisServer({ executable });
    const { port } = open.server;
    const redis = await connection(open.server.url);
    const said: string[] = [];
    const log = pino({}, { write: (line) => said.push((JSON.parse(line) as { msg: string }).msg) });
    let now = 0;
    const window = createSharedWindow(redis, log, () => now, PATIENT_MS);

    expect(await admitted(window, 2)).toEqual([true, true]);
    const gone = event(redis, 'close');
    await open.server.stop();
    await gone;
    // Requests counted before the outage still count.
    expect(await admitted(window, 2)).toEqual([true, false]);

    const back = event(redis, 'ready');
    open.server = await startRedisServer({ executable, port });
    await back;
    now += 2_000;
    // The new server lacks both the script and the counts.
    expect(await admitted(window, 4)).toEqual([true, true, true, false]);
    expect(await redis.keys('rl:*')).toEqual(['rl:{203.0.113.9}:bucket:203.0.113.9']);
    expect(said).toEqual([
      'rate limits are counted in memory: Redis does not answer',
      'rate limits are counted in Redis again',
    ]);
  });

  it('does not wait for a frozen Redis more than once a second', async () => {
    open.server = await startRedisServer({ executable });
    const redis = await connection(open.server.url, 200);
    let now = 0;
    const window = createSharedWindow(redis, pino({ level: 'silent' }), () => now);
    let sent = 0;
    const send = redis.sendCommand.bind(redis);
    redis.sendCommand = (...command) => {
      sent += 1;
      return send(...command);
    };
    process.kill(open.server.pid, 'SIGSTOP');

    expect(await admitted(window, 5)).toEqual([true, true, true, false, false]);
    expect(sent).toBe(1);
    now += 1_000;
    await admitted(window, 1);
    expect(sent).toBe(2);
  });

  it('waits for a frozen Redis no longer than its own patience', async () => {
    open.server = await startRedisServer({ executable });
    // Longer than a test may take: only the timeout of the window can end the wait.
    const redis = await connection(open.server.url, 10 * PATIENT_MS);
    const window = createSharedWindow(redis, pino({ level: 'silent' }), () => performance.now(), 50);
    process.kill(open.server.pid, 'SIGSTOP');

    expect(await admitted(window, 4)).toEqual([true, true, true, false]);
  });

  it('counts in memory alone where there is no Redis', async () => {
    const window = createSharedWindow(undefined, pino({ level: 'silent' }), () => 0);

    expect(await admitted(window, 4)).toEqual([true, true, true, false]);
  });
});

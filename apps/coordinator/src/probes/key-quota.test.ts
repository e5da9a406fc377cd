import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { MAX_SCREENSHOT_BYTES, redisKeys } from '@vantage/contract';
import { findRedisServer, startRedisServer } from '@vantage/redis-server';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';

import { quiet, startCoreBed, until, type CoreBed } from '../../test/core-bed.ts';
import { runProbeAdmin } from '../admin/commands.ts';
import { readAdminConfig } from '../admin/config.ts';
import { createKeyQuota } from './key-quota.ts';

const LIMIT_BYTES = 1_048_576;
/** More than Redis uses in these tests. */
const MORE_THAN_ALL_BYTES = 1_073_741_824;
/** Connections of a flood: more than twice those that an agent's user keeps. */
const FAR_TOO_MANY = 14;

let bed: CoreBed;
/** Resolves when Redis has no connection any more that was opened before the tests and did not log in. */
let strangersEnded: Promise<unknown>;
/** A connection as old as the ones without a login, but with one. */
let idle: Redis;

beforeAll(async () => {
  bed = await startCoreBed({}, { quotaEveryMs: 250 });
  strangersEnded = Promise.all(['', '', '', 'AUTH probe-none wrong\r\n'].map(stranger));
  idle = connectAs(bed.server.url);
  await idle.time();
});

afterAll(async () => bed.stop());

const record = ['--name', 'A', '--datacenter', 'B', '--country', 'DE', '--isp', 'C', '--asn', 'AS64496'];

async function admin(...args: string[]): Promise<{ readonly environment: { readonly REDIS_URL: string } }> {
  const out: string[] = [];
  const streams = { out: (line: string) => out.push(line), err: () => 0 };
  const config = readAdminConfig({ REDIS_URL: bed.server.url });
  await runProbeAdmin([...args, '--json'], config, streams);
  if (out.length > 0) return JSON.parse(out.join('\n')) as never;
  // On a busy machine, Redis may not answer in time while it is flooded.
  if (args[0] === 'add') await runProbeAdmin(['remove', args[1]!, '--json'], config, { ...streams, out: () => 0 });
  return admin(...args);
}

function connectAs(url: string): Redis {
  const redis = new Redis(url, { enableReadyCheck: false, disableClientInfo: true, retryStrategy: null });
  redis.on('error', () => undefined);
  return redis;
}

/** Sends the bytes on a new connection without a login. Resolves when Redis has closed it. */
async function stranger(bytes: string): Promise<void> {
  const socket = connect(bed.server.port, '127.0.0.1').on('error', () => undefined);
  socket.write(bytes);
  await once(socket.resume(), 'close');
}

/** Enforces the key quota once, taking its lock from any coordinator. */
async function poll(guard = createKeyQuota({ redis: bed.redis, limitBytes: LIMIT_BYTES, log: quiet })): Promise<void> {
  await until(async () => {
    await bed.redis.del(redisKeys.keyQuotaLock);
    return guard.poll();
  });
}

describe('an agent that floods its own keys', () => {
  // The test's own connection writes the last two: only earlier releases gave agents the rights to such keys.
  it.each<readonly [string, (agent: Redis) => Promise<unknown>]>([
    ['with results', (agent: Redis) => agent.xadd(redisKeys.results('flood'), '*', 'data', 'x'.repeat(LIMIT_BYTES))],
    ['with one heartbeat', (agent: Redis) => agent.set(redisKeys.heartbeat('flood'), 'x'.repeat(LIMIT_BYTES))],
    [
      'with keys of unknown names',
      () =>
        Promise.all(
          Array.from({ length: 200 }, (_, index) => bed.redis.set(`p:{flood}:jobs:${index}-own`, 'x'.repeat(10_000))),
        ),
    ],
    [
      'with one large value among many small',
      async () => {
        const small = Array.from({ length: 2_000 }, (_, index) => [`${index}`, 'x']).flat();
        await bed.redis.hset('p:{flood}:jobs:h', ...small);
        await bed.redis.hset('p:{flood}:jobs:h', 'large', 'x'.repeat(LIMIT_BYTES));
      },
    ],
  ])('%s is switched off, and GET /probes says so', async (_how, flood) => {
    const { environment } = await admin('add', 'flood', ...record);
    await bed.beat('flood');
    const agent = connectAs(environment.REDIS_URL);
    const ended = new Promise<void>((resolve) => agent.once('end', resolve));
    // The coordinator may have read and removed results before the quota is enforced.
    await until(async () => {
      await flood(agent);
      await poll();
      return (await bed.redis.hexists(redisKeys.suspended, 'flood')) === 1;
    });
    await ended;

    const again = connectAs(environment.REDIS_URL);
    await expect(again.time()).rejects.toThrow();
    expect(await bed.redis.keys('p:{flood}:*')).toEqual([]);
    await until(async () => {
      const { flood: probe } = await bed.core.probes.list();
      return probe?.status === 'offline' && probe.reason?.startsWith('Switched off: ') === true;
    });
    again.disconnect();
    await admin('remove', 'flood');
  });

  it('does not hold Redis up: no more is measured of it than shows that it has too much', async () => {
    await admin('add', 'wide', ...record);
    const part = 'x'.repeat(LIMIT_BYTES / 16);
    await Promise.all(Array.from({ length: 400 }, (_, index) => bed.redis.set(`p:{wide}:jobs:${index}`, part)));
    await bed.redis.config('RESETSTAT');

    await poll();

    const measured = Number(/cmdstat_memory\|usage:calls=(\d+)/.exec(await bed.redis.info('commandstats'))?.[1]);
    expect(measured).toBeGreaterThan(15);
    expect(measured).toBeLessThan(200);
    expect(await bed.redis.hexists(redisKeys.suspended, 'wide')).toBe(1);
    await admin('remove', 'wide');
  });

  it('costs no measurement while all of Redis has less than one probe may', async () => {
    const guard = createKeyQuota({ redis: bed.redis, limitBytes: MORE_THAN_ALL_BYTES, log: quiet });
    const measured = async (): Promise<number> =>
      Number(/cmdstat_scan:calls=(\d+)/.exec(await bed.redis.info('commandstats'))?.[1] ?? 0);
    const before = await measured();
    await poll(guard);

    expect(await measured()).toBe(before);
  });

  it('is switched off though it left Redis no memory to write with', async () => {
    const { environment } = await admin('add', 'full', ...record);
    const agent = connectAs(environment.REDIS_URL);
    await agent.set(redisKeys.heartbeat('full'), 'x'.repeat(LIMIT_BYTES));
    await bed.redis.config('SET', 'maxmemory', '1');
    try {
      await poll();
    } finally {
      await bed.takeWrites();
    }

    const again = connectAs(environment.REDIS_URL);
    await expect(again.time()).rejects.toThrow();
    expect(await bed.redis.exists(redisKeys.heartbeat('full'))).toBe(0);
    expect(await bed.redis.hget(redisKeys.suspended, 'full')).toMatch(/^Switched off: /);
    for (const connection of [agent, again]) connection.disconnect();
    await admin('remove', 'full');
  });

  it('gets no work, and can work again when the operator switches it on', async () => {
    const { environment } = await admin('add', 'back', ...record);
    await bed.redis.set('p:{back}:jobs:x', 'x'.repeat(LIMIT_BYTES));
    await poll();
    await bed.keepAlive('back');
    await until(async () => (await bed.core.probes.list())['back']?.status === 'offline');

    const without = await bed.create({ probes: ['back'] });
    await admin('enable', 'back');
    await until(async () => (await bed.core.probes.list())['back']?.status === 'healthy');
    const agent = connectAs(environment.REDIS_URL);

    expect(without).toMatchObject({ created: true });
    expect(await bed.redis.keys('p:{back}:jobs:*')).not.toContain('p:{back}:jobs:wait');
    expect(await agent.set(redisKeys.heartbeat('back'), '{}', 'GET')).not.toBeNull();
    agent.disconnect();
  });

  it('stays switched off on a server that knows nothing of it yet', async () => {
    const { environment } = await admin('add', 'again', ...record);
    await bed.redis.hset(redisKeys.suspended, 'again', 'Switched off.');

    await poll();

    const agent = connectAs(environment.REDIS_URL);
    await expect(agent.time()).rejects.toThrow();
    agent.disconnect();
  });

  it('can work again although a coordinator had just read that it is suspended', async () => {
    const { environment } = await admin('add', 'meanwhile', ...record);
    await bed.redis.hset(redisKeys.suspended, 'meanwhile', 'Switched off.');
    await poll();
    const read = bed.redis.hkeys.bind(bed.redis);
    const enabling = jest.spyOn(bed.redis, 'hkeys').mockImplementationOnce(async (key) => {
      const found = await read(key);
      await admin('enable', 'meanwhile');
      return found;
    });

    await poll();
    enabling.mockRestore();

    const agent = connectAs(environment.REDIS_URL);
    expect(await agent.set(redisKeys.heartbeat('meanwhile'), '{}')).toBe('OK');
    agent.disconnect();
  });

  it('leaves every other probe as it is', async () => {
    const { environment } = await admin('add', 'good', ...record);
    await bed.redis.set('p:{bad}:jobs:x', 'x'.repeat(LIMIT_BYTES));
    const agent = connectAs(environment.REDIS_URL);
    await agent.set(redisKeys.heartbeat('good'), 'x'.repeat(LIMIT_BYTES / 2));

    await poll();

    expect(await agent.set(redisKeys.heartbeat('good'), '{}', 'GET')).not.toBeNull();
    expect(Object.keys(await bed.redis.hgetall(redisKeys.suspended))).not.toContain('good');
    agent.disconnect();
  });
});

describe('an agent that opens more connections than an agent needs', () => {
  const agents: Redis[] = [];
  afterEach(() => {
    for (const agent of agents.splice(0)) agent.disconnect();
  });

  /** Opens connections, waits until each is served, and returns one that is opened after them. */
  async function open(url: string, count: number): Promise<Redis> {
    const opened = Array.from({ length: count }, () => connectAs(url));
    agents.push(...opened);
    await Promise.all(opened.map((agent) => agent.time()));
    const last = connectAs(url);
    agents.push(last);
    await last.time();
    return last;
  }

  const left = async (probe: string): Promise<number> =>
    String(await bed.redis.client('LIST'))
      .split('\n')
      .filter((line) => line.includes(`user=probe-${probe} `)).length;

  it('loses the oldest of them, and is switched off if it opens as many again', async () => {
    const { environment } = await admin('add', 'many', ...record);
    const newest = await open(environment.REDIS_URL, FAR_TOO_MANY);

    await until(async () => (await left('many')) === 6);
    await newest.time();
    // Reconnects without a pause, as an attacker would, because the quota may be enforced while connections are opened.
    await until(async () => {
      await open(environment.REDIS_URL, FAR_TOO_MANY).catch(() => undefined);
      return (await bed.redis.hexists(redisKeys.suspended, 'many')) === 1;
    });

    await until(async () => (await left('many')) === 0);
    await expect(connectAs(environment.REDIS_URL).time()).rejects.toThrow();
    expect(await bed.redis.hget(redisKeys.suspended, 'many')).toMatch(/^Switched off: its agent opened far more/);
    await admin('remove', 'many');
  });

  it('is switched off if it has a few too many again and again', async () => {
    const { environment } = await admin('add', 'few', ...record);

    await until(async () => {
      // Opens connections only after the quota has closed some, so that it finds only a few too many each time.
      if ((await left('few')) <= 6) await open(environment.REDIS_URL, 3).catch(() => undefined);
      return (await bed.redis.hexists(redisKeys.suspended, 'few')) === 1;
    });

    expect(await bed.redis.hget(redisKeys.suspended, 'few')).toMatch(/^Switched off: its agent opened far more/);
    await admin('remove', 'few');
  });

  it('keeps the newest if lines break off without a sign and leave others behind', async () => {
    const { environment } = await admin('add', 'flaky', ...record);
    const newest = await open(environment.REDIS_URL, 11);

    await poll();
    await poll();

    expect(await left('flaky')).toBe(6);
    await newest.time();
    expect(await bed.redis.hexists(redisKeys.suspended, 'flaky')).toBe(0);
    await admin('remove', 'flaky');
  });
});

describe('an agent that sends what its permissions refuse, in megabytes', () => {
  const LARGE = 'x'.repeat(3 * LIMIT_BYTES);
  const times = (count: number, word: string): readonly string[] => Array.from({ length: count }, () => word);
  const largeKeys = (probe: string): readonly string[] => times(20, `p:{${probe}}:jobs:${LARGE}`);
  const agents: Redis[] = [];
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const agent of agents.splice(0)) agent.disconnect();
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  const isSuspended = async (probe: string): Promise<boolean> =>
    (await bed.redis.hexists(redisKeys.suspended, probe)) === 1;

  async function open(probe: string, count: number): Promise<readonly Redis[]> {
    const { environment } = await admin('add', probe, ...record);
    const opened = Array.from({ length: count }, () => connectAs(environment.REDIS_URL));
    agents.push(...opened);
    await Promise.all(opened.map((agent) => agent.time()));
    return opened;
  }

  const encode = (words: readonly string[]): Buffer =>
    Buffer.from(`*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`);

  /** Sends the request repeatedly, as fast as Redis reads. */
  function send(url: string, request: readonly string[]): void {
    const { username, password } = new URL(url);
    const socket = connect(bed.server.port, '127.0.0.1');
    sockets.push(socket);
    const bytes = encode(request);
    const again = (error?: Error | null): void => {
      if (!error && socket.writable) socket.write(bytes, again);
    };
    socket.on('error', () => undefined).resume();
    socket.write(encode(['AUTH', username, password]), again);
  }

  // Redis executes AUTH for every user; it reads each other command completely before it executes or refuses it.
  it.each<readonly [string, string, number, readonly string[]]>([
    ['a login', 'auth', 8, ['AUTH', 'probe-auth', LARGE]],
    ['a key that is not its own', 'keys', 8, ['HGETALL', LARGE]],
    ['a list of keys', 'list', 8, ['DEL', ...times(100_000, redisKeys.heartbeat('list'))]],
    ['a login', 'auth-2', 2, ['AUTH', 'probe-auth', LARGE]],
    ['a long list of keys', 'list-1', 1, ['DEL', ...times(1_000_000, redisKeys.heartbeat('list-1'))]],
    ['a list of keys', 'list-2', 2, ['UNLINK', ...times(300_000, 'p:{list-2}:jobs:1')]],
    [
      'large keys behind short ones',
      'keys-1',
      1,
      ['UNLINK', ...times(32, 'p:{keys-1}:jobs:1'), ...largeKeys('keys-1')],
    ],
  ])('is suspended: %s (%s), on %d connections', async (_what, probe, connections, request) => {
    const { environment } = await admin('add', probe, ...record);
    for (let count = 0; count < connections; count += 1) send(environment.REDIS_URL, request);

    await until(() => isSuspended(probe));

    expect(await bed.redis.hget(redisKeys.suspended, probe)).toMatch(/values far larger/);
    await admin('remove', probe);
  });

  it('is suspended for the name of a connection', async () => {
    const [agent] = await open('named', 1);
    await agent!.call('HELLO', '3', 'SETNAME', 'x'.repeat(8_192));

    await until(() => isSuspended('named'));

    await admin('remove', 'named');
  });

  it('is suspended although its names make the list of connections longer than a client may receive', async () => {
    const [, limit] = (await bed.redis.config('GET', 'client-output-buffer-limit')) as [string, string];
    await bed.redis.config('SET', 'client-output-buffer-limit', 'normal 16mb 8mb 10');
    try {
      const { environment } = await admin('add', 'names', ...record);
      // More connections than a user may keep, and names longer than one client list may contain. They are opened
      // repeatedly, because the quota may be enforced before all of them are open.
      await until(async () => {
        const named = Array.from({ length: FAR_TOO_MANY }, () => connectAs(environment.REDIS_URL));
        agents.push(...named);
        await Promise.all(named.map((agent) => agent.call('HELLO', '3', 'SETNAME', LARGE).catch(() => undefined)));
        return isSuspended('names');
      });
    } finally {
      await bed.redis.config('SET', 'client-output-buffer-limit', limit);
    }
    await admin('remove', 'names');
  });

  it('goes on with screenshots as large as they may be, one after the other, while another connection writes', async () => {
    const [writer, other] = await open('pictures', 2);
    const png = Buffer.alloc(MAX_SCREENSHOT_BYTES, 'x');
    const guard = createKeyQuota({ redis: bed.redis, limitBytes: MORE_THAN_ALL_BYTES, log: quiet });
    for (let polls = 0; polls < 20; polls += 1) {
      await Promise.all([
        writer!.xadd(redisKeys.results('pictures'), '*', 'check', 'x', 'kind', 'screenshot', 'data', '{}', 'png', png),
        other!.set(redisKeys.heartbeat('pictures'), '{}', 'PX', 15_000),
        poll(guard),
      ]);
      await bed.redis.del(redisKeys.results('pictures'));
    }

    expect(await isSuspended('pictures')).toBe(false);
    await admin('remove', 'pictures');
  });

  it('goes on with one large value at a time', async () => {
    const [agent] = await open('large', 3);
    for (let sent = 0; sent < 4; sent += 1) {
      await agent!.xadd(redisKeys.results('large'), '*', 'data', 'x'.repeat(LIMIT_BYTES / 16));
      await poll();
    }

    expect(await isSuspended('large')).toBe(false);
    await admin('remove', 'large');
  });
});

describe('a connection that does not log in', () => {
  it('is ended after ten seconds; one that did stays', async () => {
    await strangersEnded;

    expect(await idle.ping()).toBe('PONG');
    idle.disconnect();
  });
});

describe('an agent that writes values of megabytes', () => {
  const large = 'x'.repeat(4_000_000);

  it.each<readonly [string, string, (agent: Redis, probe: string) => Promise<unknown>]>([
    ['as notifications', 'huge', (agent, probe) => agent.publish(redisKeys.resultNotification(probe), large)],
    ['as results', 'huge-1', (agent, probe) => agent.xadd(redisKeys.results(probe), '*', 'data', large)],
    [
      'as results of ten thousand fields',
      'huge-2',
      (agent, probe) => agent.xadd(redisKeys.results(probe), '*', ...Array.from({ length: 20_000 }, () => 'a')),
    ],
    [
      'as heartbeats, while the service looks',
      'huge-3',
      async (agent, probe) => {
        await agent.set(redisKeys.heartbeat(probe), large, 'PX', 15_000);
        await bed.core.probes.list();
      },
    ],
  ])('%s is suspended, and the coordinator stays subscribed', async (_how, probe, write) => {
    const { environment } = await admin('add', probe, ...record);
    await until(async () => (await bed.core.probes.list())[probe] !== undefined);
    const agent = connectAs(environment.REDIS_URL);
    agents.push(agent);

    await until(async () => {
      await write(agent, probe).catch(() => undefined);
      return (await bed.redis.hexists(redisKeys.suspended, probe)) === 1;
    });
    await until(async () => !String(await bed.redis.client('LIST')).includes(`user=probe-${probe} `));

    expect(await bed.redis.hget(redisKeys.suspended, probe)).toBe(
      'Switched off: its agent sent requests or values far larger than an agent sends.',
    );
    const channel = redisKeys.resultNotification(probe);
    expect(await bed.redis.publish(channel, '1')).toBe(1);
    await admin('remove', probe);
  });

  const agents: Redis[] = [];
  afterEach(() => {
    for (const agent of agents.splice(0)) agent.disconnect();
  });
});

it('looks again although the clock of Redis was stepped back since the last look', async () => {
  await bed.redis.set(redisKeys.keyQuotaLock, '1', 'PX', 3_600_000);

  await until(async () => (await bed.redis.pttl(redisKeys.keyQuotaLock)) < 10_000);
});

describe('an agent that writes one heartbeat larger than any', () => {
  it('is suspended while the heartbeat is there', async () => {
    const { environment } = await admin('add', 'wide-beat', ...record);
    const agent = connectAs(environment.REDIS_URL);
    await agent.set(redisKeys.heartbeat('wide-beat'), 'x'.repeat(65_536));

    await until(async () => (await bed.redis.hexists(redisKeys.suspended, 'wide-beat')) === 1);

    expect(await bed.redis.hget(redisKeys.suspended, 'wide-beat')).toMatch(/values far larger/);
    agent.disconnect();
    await admin('remove', 'wide-beat');
  });
});

describe('an agent that sends notifications without end', () => {
  it('is suspended, and the coordinator goes on to hear the others', async () => {
    const { environment } = await admin('add', 'loud', ...record);
    await admin('add', 'quiet', ...record);
    await until(async () => Object.keys(await bed.core.probes.list()).includes('quiet'));
    const { username, password } = new URL(environment.REDIS_URL);
    const socket = connect(bed.server.port, '127.0.0.1').on('error', () => undefined);
    socket.resume().write(`AUTH ${username} ${password}\r\n`);
    const flood = `PUBLISH ${redisKeys.resultNotification('loud')} 1\r\n`.repeat(10_000);

    await until(async () => {
      if (!socket.destroyed && socket.writableLength === 0) socket.write(flood);
      return (await bed.redis.hexists(redisKeys.suspended, 'loud')) === 1;
    });
    await until(() => socket.destroyed);

    expect(await bed.redis.hget(redisKeys.suspended, 'loud')).toBe(
      'Switched off: its agent sent far more notifications than an agent sends.',
    );
    await bed.beat('quiet');
    await bed.redis.publish(redisKeys.resultNotification('quiet'), 'heartbeat');
    await until(async () => (await bed.core.probes.list())['quiet']?.status === 'healthy');
    expect(await bed.redis.hexists(redisKeys.suspended, 'quiet')).toBe(0);
    for (const probe of ['loud', 'quiet']) await admin('remove', probe);
  });
});

it('the quota holds on a Redis without the commands that hosts of Redis do not offer', async () => {
  const renamed = ['ACL', 'CLIENT', 'CONFIG', 'SLOWLOG'].flatMap((command) => [
    '--rename-command',
    command,
    `own-${command}`,
  ]);
  const server = await startRedisServer({
    executable: findRedisServer(process.env['PATH'] ?? '')!,
    arguments: renamed,
  });
  const redis = connectAs(server.url);
  try {
    const quota = createKeyQuota({ redis, limitBytes: LIMIT_BYTES, log: quiet });
    await redis.set(redisKeys.heartbeat('flood'), 'x'.repeat(LIMIT_BYTES));

    expect(await quota.poll()).toBe(true);
    expect(await redis.exists(redisKeys.heartbeat('flood'))).toBe(0);
    expect(await redis.hexists(redisKeys.suspended, 'flood')).toBe(1);
  } finally {
    redis.disconnect();
    await server.stop();
  }
});

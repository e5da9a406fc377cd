import { HEARTBEAT_TTL_MS, redisKeys, type Heartbeat } from '@vantage/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';

import { startCoreBed, until, type CoreBed } from '../../test/core-bed.ts';
import { createBeats, type Beats } from './beats.ts';
import type { AgentConnection } from './connection/connection.ts';

const capabilities = { types: ['echo'], ipv4: true, ipv6: false, screenshot: true };
const idle: Heartbeat = {
  v: 1,
  version: '0.1.0',
  instance: 'one',
  capabilities,
  degraded: [],
  draining: false,
  taken: 0,
  load: { running: 0, capacity: 2 },
};
const key = redisKeys.heartbeat('fra-1');

let bed: CoreBed;
let redis: Redis;

beforeAll(async () => {
  bed = await startCoreBed();
  redis = bed.redis;
});

afterAll(() => bed.stop());

beforeEach(() => redis.del(key));

interface Played {
  readonly connection: AgentConnection;
  readonly beats: Beats;
  readonly become: (heartbeat: Heartbeat | undefined) => void;
}

/** A stub of a connection, with the heartbeats of its gateway. */
function connect(id: string, counter: number, more: { fingerprint?: string; wasSilent?: boolean } = {}): Played {
  const { fingerprint = 'SHA256:a', wasSilent = false } = more;
  let heartbeat: Heartbeat | undefined = idle;
  const connection = {
    probe: 'fra-1',
    counter,
    fingerprint,
    socket: { wasSilent: () => wasSilent },
    heartbeat: () => heartbeat,
    isDraining: () => heartbeat?.draining === true,
  } as AgentConnection;
  const beats = createBeats({ redis, id, connections: { all: () => [connection], current: () => connection } });
  return { connection, beats, become: (next) => (heartbeat = next) };
}

async function written(): Promise<Heartbeat | undefined> {
  const text = await redis.get(key);
  return text === null ? undefined : (JSON.parse(text) as Heartbeat);
}

describe('the heartbeats of agents at a gateway', () => {
  it('are written when they change, and live as long as the gateway', async () => {
    const { beats, become } = connect('one', 1);
    beats.beatAll();
    await until(async () => (await written()) !== undefined);
    const [first, leftMs] = [await written(), await redis.pttl(key)];
    // The reply to PING arrives after the effect of a command that the gateway would have sent.
    await redis.del(key);
    beats.beatAll();
    await redis.ping();
    const unchanged = await written();
    become({ ...idle, taken: 1 });
    beats.beatAll();
    await until(async () => (await written()) !== undefined);

    expect(first).toMatchObject({ announced: true, gateway: { id: 'one', key: 'SHA256:a', counter: 1 } });
    expect(leftMs).toBeGreaterThan(HEARTBEAT_TTL_MS);
    expect(unchanged).toBeUndefined();
    expect(await written()).toMatchObject({ taken: 1 });
  });

  it('are written again if Redis may have lost them', async () => {
    const { beats } = connect('one', 1);
    beats.beatAll();
    await until(async () => (await written()) !== undefined);
    await redis.del(key);
    beats.rewriteAll();

    await until(async () => (await written()) !== undefined);
    expect(await written()).toMatchObject({ gateway: { id: 'one' } });
  });

  it('of an older connection replace and remove none of a newer one', async () => {
    const [older, newer] = [connect('one', 1), connect('two', 2)];
    newer.beats.beatAll();
    await until(async () => (await written())?.gateway?.id === 'two');
    older.beats.beatAll();
    older.beats.ended(older.connection);
    older.beats.remove(older.connection);
    await redis.ping();

    expect(await written()).toMatchObject({ gateway: { id: 'two', counter: 2 } });
  });

  it('of a new key replace those of the key before, whose counter was higher', async () => {
    const [old, fresh] = [connect('one', 9), connect('two', 1, { fingerprint: 'SHA256:b' })];
    old.beats.beatAll();
    await until(async () => (await written())?.gateway?.id === 'one');
    fresh.beats.beatAll();

    await until(async () => (await written())?.gateway?.id === 'two');
    expect(await written()).toMatchObject({ gateway: { key: 'SHA256:b' } });
  });

  it.each([
    ['any size', async () => redis.set(key, 'x'.repeat(1_000_000))],
    ['another type', async () => redis.lpush(key, 'x')],
    ['no object', async () => redis.set(key, '{"gateway":7}')],
  ])('replace a value of %s', async (_reason, put) => {
    await put();
    connect('one', 1).beats.beatAll();

    await until(async () => (await redis.type(key)) === 'string' && (await redis.strlen(key)) < 1_000);
    await until(async () => (await written())?.gateway?.id === 'one');
    expect(await written()).toMatchObject({ gateway: { id: 'one' } });
  });

  it('end as those of an agent that writes its own if the connection is lost', async () => {
    const { connection, beats } = connect('one', 1);
    beats.beatAll();
    await until(async () => (await written())?.gateway !== undefined);
    beats.ended(connection);
    await until(async () => (await written())?.gateway === undefined);

    expect(await written()).toMatchObject({ announced: true, instance: 'one' });
    expect(await redis.pttl(key)).toBeLessThanOrEqual(HEARTBEAT_TTL_MS);
  });

  it.each([
    ['the agent ends', {}, true],
    ['the agent did not answer for long', { wasSilent: true }, false],
  ])('end at once if %s', async (_reason, more, draining) => {
    const { connection, beats, become } = connect('one', 1, more);
    become({ ...idle, draining });
    beats.beatAll();
    await until(async () => (await written()) !== undefined);
    beats.ended(connection);

    await until(async () => (await written()) === undefined);
    expect(await redis.exists(key)).toBe(0);
  });
});

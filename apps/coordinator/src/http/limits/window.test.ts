import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { Redis } from 'ioredis';

import { axesOf, hashTag, type Axis, type Charge } from './axes.ts';
import { createMemoryWindow } from './memory-window.ts';
import { countArguments, countScript, readReply } from './script.ts';
import type { Count } from './window.ts';

type CountAt = (axes: readonly Axis[], nowMs: number, target?: readonly Axis[]) => Promise<Count>;

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedisServer({ executable: findRedisServer(process.env['PATH'] ?? '')! });
  redis = new Redis(server.url);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

afterEach(() => redis.flushall());

/** Both implementations of the window, each with a clock that the test sets. */
const implementations: readonly [string, () => CountAt][] = [
  [
    'in memory',
    () => {
      const window = createMemoryWindow();
      return async (client, nowMs, target = []) => window.count({ client, target }, nowMs);
    },
  ],
  ['in Redis', () => countInRedis],
];

async function countInRedis(client: readonly Axis[], nowMs: number, target: readonly Axis[] = []): Promise<Count> {
  const charge: Charge = { client, target };
  const keys = [...client, ...target].map(({ key }) => `rl:{one}:${key}`);
  return readReply(await redis.eval(countScript.lua, keys.length, ...keys, ...countArguments(charge), String(nowMs)));
}

const T = 1_795_000_000_000;

describe.each(implementations)('the window %s', (_name, create) => {
  const client = [{ key: 'client', limit: 20 }];

  async function burst(count: CountAt, axes: readonly Axis[], requests: number, nowMs: number): Promise<number> {
    let admitted = 0;
    for (let i = 0; i < requests; i += 1) if ((await count(axes, nowMs)).admitted) admitted += 1;
    return admitted;
  }

  it('admits the limit and refuses the next, with the time after which one is admitted', async () => {
    const count = create();

    expect(await burst(count, client, 20, T + 500)).toBe(20);
    const refused = await count(client, T + 900);

    expect(refused).toMatchObject({ admitted: false, hits: 21 });
    expect((await count(client, T + 900 + refused.resetMs - 2)).admitted).toBe(false);
    expect((await count(client, T + 900 + refused.resetMs)).admitted).toBe(true);
    expect(refused.resetMs).toBeLessThanOrEqual(60_100);
  });

  it('admits no more than the limit around any edge', async () => {
    for (const before of [1, 10, 19, 20]) {
      await redis.flushall();
      const count = create();
      const first = await burst(count, client, before, T + 59_990);
      expect(first + (await burst(count, client, 20, T + 60_010))).toBe(20);
      expect(await burst(count, client, 20, T + 61_000)).toBe(0);
    }
  });

  it('does not count what it refused', async () => {
    const count = create();
    await burst(count, client, 20, T);
    await burst(count, client, 100, T + 30_000);

    expect(await burst(count, client, 20, T + 61_000)).toBe(20);
  });

  it('gives back what leaves the window little by little', async () => {
    const count = create();
    for (let second = 0; second < 20; second += 1) await count(client, T + second * 3_000);

    expect((await count(client, T + 59_000)).admitted).toBe(false);
    expect(await burst(count, client, 20, T + 61_000)).toBe(1);
    expect(await burst(count, client, 20, T + 64_000)).toBe(1);
  });

  it('counts on every axis or on none, and waits for the slowest', async () => {
    const count = create();
    const network = { key: 'network', limit: 3 };
    const of = (key: string): readonly Axis[] => [{ key, limit: 2 }, network];

    expect(await burst(count, of('a'), 5, T)).toBe(2);
    expect(await burst(count, of('b'), 5, T)).toBe(1);
    expect(await count(of('c'), T)).toMatchObject({ admitted: false, hits: 3 });
    expect(await burst(count, of('c'), 5, T + 61_001)).toBe(2);
  });

  it('has left for cheaper requests what the refused one did not get', async () => {
    const count = create();
    const costing = (cost: number): readonly Axis[] => [
      { key: 'client', limit: 20, cost },
      { key: 'network', limit: 30, cost },
    ];
    await burst(count, costing(1), 17, T);

    expect(await count(costing(9), T)).toMatchObject({ admitted: false, hits: 21, left: 3 });
    await count(
      [
        { key: 'other', limit: 20, cost: 12 },
        { key: 'network', limit: 30, cost: 12 },
      ],
      T,
    );
    expect(await count(costing(2), T)).toMatchObject({ admitted: false, hits: 21, left: 1 });
    expect((await count(costing(1), T)).admitted).toBe(true);
    expect(await count(costing(1), T)).toMatchObject({ admitted: false, hits: 21, left: 0 });
  });

  it('tells at each step when the count falls', async () => {
    const count = create();

    const [first, second] = [await count(client, T), await count(client, T + 10_000)];

    expect(first).toEqual({ admitted: true, hits: 1, resetMs: 60_000 });
    expect(second.hits).toBe(2);
    expect(second.resetMs).toBeLessThanOrEqual(51_001);
  });

  describe('of a target', () => {
    const free = [{ key: 'client', limit: 1_000 }];

    it('adds up what requests cost, and says what is left and for how long', async () => {
      const count = create();
      const axis = (cost: number): readonly Axis[] => [{ key: 'target', limit: 10, cost }];

      expect((await count(free, T, axis(6))).refusedBy).toBeUndefined();
      const refused = (await count(free, T + 10_000, axis(5))).refusedBy;
      expect(refused).toMatchObject({ axis: 0, left: 4 });
      expect((await count(free, T + 10_000, axis(4))).refusedBy).toBeUndefined();
      const full = (await count(free, T + 11_000, axis(1))).refusedBy;
      expect(full).toMatchObject({ left: 0 });
      expect((await count(free, T + 11_000 + full!.resetMs, axis(1))).refusedBy).toBeUndefined();
    });

    it('admits any cost into an empty window, and nothing more then', async () => {
      const count = create();
      const axis = (cost: number): readonly Axis[] => [{ key: 'target', limit: 10, cost }];

      expect((await count(free, T, axis(100))).refusedBy).toBeUndefined();
      const refused = (await count(free, T + 500, axis(1))).refusedBy!;
      expect(refused.resetMs).toBeGreaterThan(50_000);
      expect((await count(free, T + 70_000, axis(100))).refusedBy).toBeUndefined();
      const large = (await count(free, T + 71_000, axis(100))).refusedBy!;
      expect((await count(free, T + 71_000 + large.resetMs, axis(100))).refusedBy).toBeUndefined();
    });

    it('counts different members, each for a window after its last use', async () => {
      const count = create();
      const port = (member: string): readonly Axis[] => [{ key: 'ports', limit: 2, member }];

      for (const [at, member] of [
        [0, 'a'],
        [1_000, 'b'],
        [2_000, 'a'],
        [3_000, 'b'],
      ] as const) {
        expect((await count(free, T + at, port(member))).refusedBy).toBeUndefined();
      }
      const refused = (await count(free, T + 4_000, port('c'))).refusedBy!;
      expect(refused).toEqual({ axis: 0, left: 0, resetMs: 58_001 });
      expect((await count(free, T + 4_000 + refused.resetMs - 2, port('c'))).refusedBy).toBeDefined();
      expect((await count(free, T + 4_000 + refused.resetMs, port('c'))).refusedBy).toBeUndefined();
    });

    it('charges no target where one refuses, and the client still', async () => {
      const count = create();
      const client = [{ key: 'client', limit: 3 }];
      const targets = (member: string): readonly Axis[] => [
        { key: 'target', limit: 2, cost: 1 },
        { key: 'ports', limit: 1, member },
      ];

      expect((await count(client, T, targets('a'))).refusedBy).toBeUndefined();
      expect(await count(client, T, targets('b'))).toMatchObject({ admitted: true, hits: 2, refusedBy: { axis: 1 } });
      expect((await count(client, T, targets('a'))).refusedBy).toBeUndefined();
      expect(await count(client, T, targets('a'))).toMatchObject({ admitted: false, hits: 4 });
    });

    it('is charged nothing where the client is refused', async () => {
      const count = create();
      const axis = [{ key: 'target', limit: 1, cost: 1 }];

      await count([{ key: 'busy', limit: 1 }], T);
      const refused = await count([{ key: 'busy', limit: 1 }], T, axis);

      expect(refused).toMatchObject({ admitted: false });
      expect(refused.refusedBy).toBeUndefined();
      expect((await count(free, T, axis)).refusedBy).toBeUndefined();
    });
  });
});

describe('the two windows', () => {
  it('say the same of any series of requests', async () => {
    const memory = createMemoryWindow();
    // Reproducible pseudo-random numbers: a linear congruential generator.
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    let now = T;
    for (let i = 0; i < 400; i += 1) {
      now += random(4) === 0 ? random(9_000) : random(300);
      const axes = [
        { key: `c${random(3)}`, limit: 7 },
        { key: 'n', limit: 15 },
      ];
      const target = [
        { key: `t${random(2)}`, limit: 30, cost: 1 + random(40) },
        { key: 'p', limit: 5, member: `m${random(9)}` },
      ].slice(random(3));
      expect(await countInRedis(axes, now, target)).toEqual(memory.count({ client: axes, target }, now));
    }
  });

  it('say the same of requests within the first millisecond of a slice', async () => {
    const memory = createMemoryWindow();
    const axes = [{ key: 'client', limit: 2 }];

    for (let i = 0; i < 3; i += 1) {
      expect(await countInRedis(axes, T)).toEqual(memory.count({ client: axes, target: [] }, T));
    }
  });
});

describe('the window in Redis, after its clock was stepped back', () => {
  const client = [{ key: 'client', limit: 2 }];
  const target = [{ key: 'target', limit: 1 }];

  it('admits a refused client when it said, and not before', async () => {
    await countInRedis(client, T + 30_000);
    await countInRedis(client, T + 30_000);

    const { admitted, resetMs } = await countInRedis(client, T);

    expect([admitted, resetMs > 60_000]).toEqual([false, true]);
    expect((await countInRedis(client, T + resetMs - 2)).admitted).toBe(false);
    expect((await countInRedis(client, T + resetMs)).admitted).toBe(true);
  });

  it('still refuses a target that is at its limit', async () => {
    await countInRedis(client, T + 30_000, target);

    const { refusedBy } = await countInRedis([{ key: 'other', limit: 2 }], T, target);

    expect(refusedBy).toMatchObject({ axis: 0, left: 0 });
  });
});

describe('the counters in Redis', () => {
  it('are gone when the window has passed', async () => {
    await countInRedis([{ key: 'client', limit: 20 }], T);

    const [key] = await redis.keys('*');

    const ttlMs = await redis.pttl(key!);
    expect(ttlMs).toBeGreaterThan(0);
    expect(ttlMs).toBeLessThanOrEqual(61_000);
  });
});

describe('the memory', () => {
  it('forgets the axes that were counted longest ago', () => {
    const window = createMemoryWindow(2);
    const axis = (key: string): readonly Axis[] => [{ key, limit: 1 }];

    for (const key of ['a', 'b', 'c']) window.count({ client: axis(key), target: [] }, T);

    const again = ['a', 'c'].map((key) => window.count({ client: axis(key), target: [] }, T).admitted);
    expect(again).toEqual([true, false]);
  });
});

describe('the axes of a client', () => {
  it.each([
    ['an IPv4 address is one client', '203.0.113.9', [{ key: '203.0.113.9', limit: 20 }]],
    [
      'an IPv6 address counts by /64, and wider',
      '2001:db8:1:2:3::4',
      [
        { key: '20010db800010002/64', limit: 20 },
        { key: '20010db8000100/56', limit: 80 },
        { key: '20010db80001/48', limit: 320 },
      ],
    ],
    [
      'the unspecified address has zeros',
      '::',
      [
        { key: '0000000000000000/64', limit: 20 },
        { key: '00000000000000/56', limit: 80 },
        { key: '000000000000/48', limit: 320 },
      ],
    ],
    [
      'an embedded IPv4 address is read',
      '64:ff9b::192.0.2.1',
      [
        { key: '0064ff9b00000000/64', limit: 20 },
        { key: '0064ff9b000000/56', limit: 80 },
        { key: '0064ff9b0000/48', limit: 320 },
      ],
    ],
  ])('%s', (_reason, address, axes) => {
    expect(axesOf(address, 20)).toEqual(axes);
  });

  it('share one slot of a Redis Cluster', () => {
    expect(hashTag(axesOf('2001:db8:1:2::1', 1))).toBe(hashTag(axesOf('2001:db8:1:3::1', 1)));
  });
});

describe('the script', () => {
  const client = [{ key: 'client', limit: 20 }];
  const target = [
    { key: 'target', limit: 20 },
    { key: 'ports', limit: 20, member: '443' },
  ];
  const pexpires = async (): Promise<number> => {
    const stats = await redis.info('commandstats');
    return Number(/cmdstat_pexpire:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  };

  it('prolongs a sum once in a slice, for as long as its costs count', async () => {
    await redis.config('RESETSTAT');
    for (let ms = 0; ms < 500; ms += 100) await countInRedis(client, T + ms, target);
    const inSlice = await pexpires();
    await redis.pexpire('rl:{one}:client', 5_000);
    await countInRedis(client, T + 1_000, target);

    // One call for each of the two sums, and one for the members at each of the five requests.
    expect(inSlice).toBe(5 + 2);
    expect(await redis.pttl('rl:{one}:client')).toBeGreaterThan(55_000);
    for (const { key } of [...client, ...target]) expect(await redis.pttl(`rl:{one}:${key}`)).toBeGreaterThan(0);
  });

  it('drops members that have left the window when another one is added, however far the limit is', async () => {
    for (const [index, member] of ['1', '2', '3'].entries()) {
      await countInRedis(client, T + index, [{ key: 'ports', limit: 1_000, member }]);
    }
    await countInRedis(client, T + 60_001, [{ key: 'ports', limit: 1_000, member: '4' }]);

    expect(await redis.zrange('rl:{one}:ports', 0, '-1')).toEqual(['3', '4']);
  });
});

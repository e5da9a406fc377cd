import { PATH_CHANGES_KEPT, redisKeys, type Check, type PathChangeOfMonitor } from '@vantage/contract';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';

import { quiet, until } from '../../../test/core-bed.ts';
import { balancedResult, TRACED_TARGET, tracedResult } from '../../../test/traced-result.ts';
import { drawId } from '../../checks/create/draw-id.ts';
import { createRedisClock } from '../../redis/clock.ts';
import type { DefinitionReading } from '../definition.ts';
import { createEvaluations, type EvaluationDependencies } from './evaluate-ticks.ts';
import { putMonitor } from '../store/definition-records.ts';
import { readEventsAfter, readMonitor } from '../store/monitor-records.ts';
import type { OpenTick } from '../store/tick-records.ts';

const PROBE = 'fra-1';
const routes = [
  ['198.51.100.1', '198.51.100.2', '198.51.100.3', TRACED_TARGET],
  ['198.51.100.1', '198.51.100.8', '198.51.100.3', TRACED_TARGET],
] as const;
const stored = {
  owner: 'api' as const,
  request: { check: { type: 'traceroute', host: TRACED_TARGET, probes: [PROBE] }, every: '1d' },
};
const definition = {
  request: stored.request,
  expectation: {},
  rule: { failing: 1, of: 2, networks: 1, countries: 1, ticks: 2 },
  accepted: { checkType: { type: 'traceroute' }, params: { host: TRACED_TARGET, options: {} } },
};

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
/** Traceroutes started for a change to bad, which no test here causes. */
let started = 0;

beforeEach(async () => {
  resultAt = alternating;
  started = 0;
  await redis.flushall();
  await putMonitor(redis, 'path', stored, Date.now() + 3_600_000);
});
afterEach(() => expect(started).toBe(0));

const idOf = (tick: number): string => `check-of-tick-${String(tick).padStart(8, '0')}`;

/** The path differs from that of the tick before. */
const alternating = (tick: number): object => tracedResult(routes[tick % 2]!, true);
let resultAt = alternating;

/** A completed check. */
const checkAt = (tick: number): Check => {
  const at = new Date(tick * 1_000).toISOString();
  return {
    testId: idOf(tick),
    type: 'traceroute',
    host: TRACED_TARGET,
    request: {},
    status: 'completed',
    createdAt: at,
    completedAt: at,
    results: { [PROBE]: resultAt(tick) },
  } as unknown as Check;
};
const read: EvaluationDependencies['read'] = async (id) => checkAt(Number(id.slice(-8)));

/** The evaluations of one coordinator. */
const coordinator = (more: Partial<EvaluationDependencies> = {}): ReturnType<typeof createEvaluations> =>
  createEvaluations({
    redis,
    clock: createRedisClock(),
    read,
    create: async () => {
      started += 1;
      throw new Error('no traceroute is expected');
    },
    readStored: () => ({ valid: true, definition }) as unknown as DefinitionReading,
    factsOfProbes: async () => new Map(),
    readDefinition: () => ({ valid: true, definition }) as unknown as DefinitionReading,
    drawId,
    onTask: () => undefined,
    stopping: new AbortController().signal,
    log: quiet,
    ...more,
  });

/** Adds a tick whose check is completed, to be evaluated by any coordinator at once. */
async function open(tick: number, atMs = tick * 1_000): Promise<void> {
  const record: OpenTick = {
    tick,
    checkId: idOf(tick),
    atMs,
    startedMs: atMs,
    reason: null,
    budgetMs: 0,
  };
  await redis.rpush(redisKeys.monitorOpenTicks('path'), JSON.stringify(record));
  await redis.zadd(redisKeys.monitorsOpen, 0, 'path');
}

const changes = async (): Promise<readonly Pick<PathChangeOfMonitor, 'tick' | 'checkId'>[]> =>
  (await readMonitor(redis, 'path'))!.pathChanges;

describe('a change of the path', () => {
  it('is listed once if the coordinator that found it ends or stalls before it has written it', async () => {
    const first = coordinator();
    await open(1);
    first.follow('path');
    await first.settled();

    await open(2);
    let hasFound = false;
    const { promise: stall, resolve: goOn } = Promise.withResolvers<void>();
    const stalled = coordinator({
      read: async (id, ...rest) => {
        const check = await read(id, ...rest);
        // The earlier check is read last, to compare the paths, before the change is written.
        if (id !== idOf(1)) return check;
        hasFound = true;
        await stall;
        return check;
      },
    });
    stalled.follow('path');
    await until(() => hasFound);
    expect(await changes()).toEqual([]);

    const other = coordinator();
    await other.takeOver();
    await other.settled();
    expect(await changes()).toMatchObject([{ tick: 2, checkId: idOf(2) }]);

    goOn();
    await stalled.settled();
    expect(await changes()).toHaveLength(1);
    const events = await readEventsAfter(redis, 'path', '0-0');
    expect(events.map(({ event }) => [event.tick, event.kind])).toEqual([
      [1, 'state'],
      [2, 'path'],
    ]);
  });

  it('begins at the path after the change before, also if that one was a way of a load balancer', async () => {
    const [one, two] = routes;
    const three = ['198.51.100.1', '198.51.100.9', '198.51.100.3', TRACED_TARGET];
    resultAt = (tick) => (tick <= 6 ? balancedResult(one, two) : tracedResult(tick <= 12 ? one : three, true));
    for (let tick = 1; tick <= 13; tick += 1) await open(tick);
    const evaluations = coordinator();
    evaluations.follow('path');
    await evaluations.settled();

    expect(await changes()).toMatchObject([
      { tick: 13, change: 'hop', changes: [{ from: [['198.51.100.2']], to: [['198.51.100.9']] }] },
      { change: 'ways', changes: [{ from: [['198.51.100.2', '198.51.100.8']], to: [['198.51.100.2']] }] },
    ]);
  });

  it('is listed with the last ones only', async () => {
    const all = PATH_CHANGES_KEPT + 5;
    for (let tick = 1; tick <= all + 1; tick += 1) await open(tick);
    const one = coordinator();
    one.follow('path');
    await one.settled();

    const kept = await changes();
    expect(kept).toHaveLength(PATH_CHANGES_KEPT);
    expect(kept.map(({ tick }) => tick)).toEqual(kept.map((_, index) => all + 1 - index));
  });
});

it('is given one traceroute by two coordinators that evaluate the turn to bad', async () => {
  const failure = { phase: 'connect', code: 'connection_refused', message: 'Refused.' };
  resultAt = () => ({ ...tracedResult(routes[0], true), result: 'failure', error: failure });
  const ids: (string | undefined)[] = [];
  const { promise: stall, resolve: goOn } = Promise.withResolvers<void>();
  const create: EvaluationDependencies['create'] = async ({ needed }, _client, id = 'drawn') => {
    ids.push(id);
    expect(needed).toEqual([PROBE]);
    if (ids.length === 1) await stall;
    return { created: true, checkId: id, probes: [PROBE], withoutJob: 0 };
  };
  const [stalled, other] = [coordinator({ create }), coordinator({ create })];
  for (const tick of [1, 2]) await open(tick);

  stalled.follow('path');
  await until(() => ids.length === 1);
  other.follow('path');
  await other.settled();
  goOn();
  await stalled.settled();

  expect(ids).toEqual([expect.stringMatching(/^[\w-]{22}$/), ids[0]]);
  expect(await readMonitor(redis, 'path')).toMatchObject({ state: { state: 'bad', traceId: ids[0] } });
});

describe('a coordinator for which the definition is not valid', () => {
  const invalid = { readStored: () => ({ valid: false, errors: [] }) as DefinitionReading };

  it('leaves a tick to those that have started its check', async () => {
    const [other, starter] = [coordinator(invalid), coordinator()];
    await open(1, Date.now());

    other.follow('path');
    await other.settled();
    const before = await readMonitor(redis, 'path');
    starter.follow('path');
    await starter.settled();

    expect(before?.runs).toEqual([]);
    expect((await readMonitor(redis, 'path'))?.runs).toMatchObject([{ tick: 1, reason: null }]);
  });

  it('does not judge a tick that is left over, and says so', async () => {
    const other = coordinator(invalid);
    resultAt = () => ({ ...tracedResult(routes[0], true), result: 'failure' });
    await open(1);

    other.follow('path');
    await other.settled();

    expect(await readMonitor(redis, 'path')).toMatchObject({
      state: { state: 'unknown' },
      runs: [{ tick: 1, results: {}, reason: expect.stringContaining('not valid') }],
    });
  });
});

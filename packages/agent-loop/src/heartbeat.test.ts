import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { HEARTBEAT_EVERY_MS, HEARTBEAT_TTL_MS, heartbeatSchema, type Heartbeat } from '@vantage/contract';
import { Ajv } from 'ajv';

import { createHeartbeat, type HeartbeatParts, type HeartbeatWriter } from './heartbeat.ts';
import { silent } from '../test/silent.ts';

const isHeartbeat = new Ajv().compile<Heartbeat>(heartbeatSchema);
let heartbeat: HeartbeatWriter;

afterEach(() => heartbeat.stop());

/** Creates a heartbeat that is written to a key in memory. */
function create(overrides: Partial<HeartbeatParts> = {}): { value: string | null } {
  const key: { value: string | null } = { value: null };
  heartbeat = createHeartbeat({
    instance: 'mine',
    describe: () => ({
      version: '1.2.3',
      capabilities: { types: ['tcp'], ipv4: true, ipv6: false, screenshot: false },
      degraded: [],
      load: { running: 0, capacity: 20 },
      draining: false,
    }),
    write: async (json) => {
      const replaced = key.value;
      key.value = json;
      return replaced;
    },
    remove: async () => (key.value = null),
    isReady: () => true,
    log: silent,
    ...overrides,
  });
  return key;
}

function read({ value }: { readonly value: string | null }): Heartbeat {
  const heartbeat: unknown = JSON.parse(value ?? 'null');
  if (!isHeartbeat(heartbeat)) throw new Error(`not a heartbeat: ${value}`);
  return heartbeat;
}

describe('a heartbeat', () => {
  it('says who and how the agent is', async () => {
    const key = create();
    await heartbeat.beat();

    expect(read(key)).toMatchObject({ v: 1, instance: 'mine', version: '1.2.3', degraded: [] });
  });

  it('keeps its schema however many and long the reasons are', async () => {
    const degraded = Array.from({ length: 40 }, () => 'x'.repeat(1_000));
    const key = create({
      describe: () => ({
        version: '1.2.3',
        capabilities: { types: [], ipv4: false, ipv6: false, screenshot: false },
        degraded,
        load: { running: 0, capacity: 1 },
        draining: true,
      }),
    });
    await heartbeat.beat();

    expect(read(key).degraded).toHaveLength(16);
  });

  it('takes what an earlier agent left behind for no twin', async () => {
    const key = create();
    key.value = JSON.stringify({ instance: 'earlier' });
    await heartbeat.beat();
    await heartbeat.beat();

    expect(read(key).degraded).toEqual([]);
  });

  it('says that another agent runs under its identifier, for as long as it does', async () => {
    const key = create();
    await heartbeat.beat();
    key.value = JSON.stringify({ instance: 'twin' });
    await heartbeat.beat();
    await heartbeat.beat();
    key.value = JSON.stringify({ instance: 'twin' });
    await heartbeat.beat();
    key.value = JSON.stringify({ instance: 'twin' });
    await heartbeat.beat();

    expect(read(key).degraded).toEqual([expect.stringContaining('same identifier')]);
  });

  it('says so no longer than the other agent runs', async () => {
    jest.useFakeTimers();
    try {
      const key = create();
      await heartbeat.beat();
      key.value = JSON.stringify({ instance: 'twin' });
      heartbeat.start();
      await jest.advanceTimersByTimeAsync(2_000);
      const during = read(key).degraded;
      await jest.advanceTimersByTimeAsync(30_000);

      expect([during.length, read(key).degraded.length]).toEqual([1, 0]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('is not written while Redis is away, nor after the end', async () => {
    let up = false;
    const key = create({ isReady: () => up });
    await heartbeat.beat();
    expect(key.value).toBeNull();

    up = true;
    await heartbeat.beat();
    await heartbeat.stop();
    await heartbeat.beat();
    expect(key.value).toBeNull();
  });

  it('survives a write that fails', async () => {
    let fails = true;
    const key = create({
      write: async (json) => {
        if (fails) throw new Error('OOM');
        key.value = json;
        return null;
      },
    });
    await heartbeat.beat();
    fails = false;
    await heartbeat.beat();

    expect(read(key).instance).toBe('mine');
  });
});

describe('the heartbeats of an agent', () => {
  /** Seconds at which the heartbeat was written, and whether the write was announced. */
  let written: (readonly [second: number, isNews: boolean])[];
  let described: Partial<Heartbeat>;
  let startedMs: number;

  beforeEach(() => {
    jest.useFakeTimers();
    [written, described, startedMs] = [[], {}, performance.now()];
    create({
      describe: () => ({
        version: '1',
        capabilities: { types: ['tcp'], ipv4: true, ipv6: false, screenshot: false },
        degraded: [],
        load: { running: 0, capacity: 20 },
        draining: false,
        ...described,
      }),
      write: async (_json, isNews) => {
        written.push([Math.round((performance.now() - startedMs) / 1_000), isNews]);
        return null;
      },
    });
    heartbeat.start();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  const pass = (seconds: number): Promise<void> => jest.advanceTimersByTimeAsync(seconds * 1_000);

  it('are five seconds apart while nothing changes: two may be lost before it is offline', async () => {
    await pass(16);

    expect(written).toEqual([
      [0, true],
      [5, false],
      [10, false],
      [15, false],
    ]);
    expect(HEARTBEAT_TTL_MS).toBeGreaterThanOrEqual(3 * HEARTBEAT_EVERY_MS);
  });

  it('are written and announced within a second of a change', async () => {
    await pass(2);
    described = { draining: true };
    await pass(1);

    expect(written.slice(1)).toEqual([[3, true]]);
  });

  it('count jobs every two seconds, without an announcement', async () => {
    for (let second = 1; second <= 6; second += 1) {
      described = { taken: second, load: { running: second, capacity: 20 } };
      await pass(1);
    }

    expect(written.slice(1)).toEqual([
      [2, false],
      [4, false],
      [6, false],
    ]);
  });

  it('are tried again after a second if one with a change could not be written', async () => {
    await heartbeat.stop();
    let tries = 0;
    create({
      write: async () => {
        tries += 1;
        throw new Error('OOM');
      },
    });
    heartbeat.start();
    await pass(3);

    expect(tries).toBe(4);
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { heartbeatSchema, type Heartbeat } from '@vantage/contract';
import { Ajv } from 'ajv';

import { createHeartbeat, type HeartbeatParts, type HeartbeatWriter } from './heartbeat.ts';
import { silent } from '../test/silent.ts';

const isHeartbeat = new Ajv().compile<Heartbeat>(heartbeatSchema);
let heartbeat: HeartbeatWriter;

afterEach(() => heartbeat.stop());

/** A key in memory. */
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

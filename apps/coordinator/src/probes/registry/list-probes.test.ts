import { probesSchema, redisKeys } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

import { startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

let bed: CoreBed;

beforeAll(async () => {
  bed = await startCoreBed();
});

afterAll(async () => bed.stop());

describe('the list of probes', () => {
  it('shows the operator’s record, and the data of the agent', async () => {
    await bed.addProbe('fra-1', {
      name: 'Frankfurt 1',
      city: 'Frankfurt',
      tags: ['demo'],
      latitude: 50.1,
      longitude: 8.7,
    });
    await bed.beat('fra-1', { version: '9.9.9', load: { running: 3, capacity: 10 } });
    const before = Date.now();
    await until(async () => (await bed.core.probes.list())['fra-1']?.status === 'healthy');
    const probes = await bed.core.probes.list();
    const ajv = new Ajv2020();
    formats.default(ajv);

    expect(ajv.validate(probesSchema, probes)).toBe(true);
    expect(probes['fra-1']).toEqual({
      name: 'Frankfurt 1',
      datacenter: 'Frankfurt',
      countryCode: 'DE',
      isp: 'Example Net',
      asNumber: 'AS64496',
      city: 'Frankfurt',
      latitude: 50.1,
      longitude: 8.7,
      tags: ['demo'],
      status: 'healthy',
      reason: null,
      version: '9.9.9',
      load: { running: 3, capacity: 10 },
      lastSeen: expect.any(String),
      capabilities: { types: ['echo'], ipv4: true, ipv6: false, screenshot: false },
    });
    expect(Math.abs(Date.parse(probes['fra-1']!.lastSeen!) - before)).toBeLessThan(60_000);
    expect(Object.getPrototypeOf(probes)).toBeNull();
  });

  it.concurrent('escapes what an agent claims, and leaves names of the operator as they are', async () => {
    // The name contains a zero-width non-joiner, which Persian needs.
    await bed.addProbe('thr-1', { name: 'نیم\u200cفاصله' });
    const degraded = ['\u001b]0;title\u0007 \u202eand a long text'];
    await until(async () => {
      await bed.beat('thr-1', { version: 'v\u202e1.2.3-long', degraded });
      return (await bed.core.probes.list())['thr-1']?.status === 'degraded';
    });
    const { name, version, reason } = (await bed.core.probes.list())['thr-1']!;

    expect(name).toBe('نیم\u200cفاصله');
    expect(version).toMatch(/^v\\u\{202e/);
    expect(reason).toMatch(/^\\u\{1b\}\]0;title/);
    expect(`${version}${reason}`).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it.concurrent('tells when a probe was last seen after its heartbeat is gone, from the heartbeat’s own age', async () => {
    await bed.addProbe('nyc-1');
    await until(async () => {
      await bed.redis.set(redisKeys.heartbeat('nyc-1'), '{}', 'PX', 5_000);
      return (await bed.core.probes.list())['nyc-1']?.status === 'degraded';
    });
    await bed.redis.del(redisKeys.heartbeat('nyc-1'));
    await until(async () => (await bed.core.probes.list())['nyc-1']?.status === 'offline');
    const probe = (await bed.core.probes.list())['nyc-1']!;

    expect(probe).toMatchObject({ reason: 'No heartbeat.', version: null, capabilities: null, load: null });
    const agoMs = Date.now() - Date.parse(probe.lastSeen!);
    expect(agoMs).toBeGreaterThanOrEqual(8_000);
    expect(agoMs).toBeLessThan(120_000);
  });

  it.concurrent('knows a probe that is called as what every object has', async () => {
    await bed.addProbe('constructor');
    await bed.beat('constructor');

    await until(async () => (await bed.core.probes.list())['constructor']?.status === 'healthy');
  });

  it.concurrent('reads no heartbeat that is longer than any agent writes', async () => {
    await bed.addProbe('long-1');
    const bytesOut = async (): Promise<number> =>
      Number(/total_net_output_bytes:(\d+)/.exec(await bed.redis.info('stats'))?.[1]);
    const before = await bytesOut();
    await bed.redis.set(redisKeys.heartbeat('long-1'), `{"k":"${'x'.repeat(8_000_000)}"}`, 'PX', 15_000);

    await until(async () => (await bed.core.probes.list())['long-1']?.status === 'degraded');

    expect((await bed.core.probes.list())['long-1']?.reason).toContain('heartbeat cannot be read');
    expect((await bytesOut()) - before).toBeLessThan(4_000_000);
    await bed.redis.del(redisKeys.heartbeat('long-1'));
  });

  it.concurrent('says that a probe takes no jobs, though it beats', async () => {
    await bed.addProbe('deaf-1');
    await bed.keepAlive('deaf-1');
    await until(async () => (await bed.core.probes.list())['deaf-1']?.status === 'healthy');

    await bed.start({ probes: ['deaf-1'] });

    await until(async () => (await bed.core.probes.list())['deaf-1']?.status === 'degraded');
    expect((await bed.core.probes.list())['deaf-1']?.reason).toContain('It takes no jobs');
  });

  it.concurrent('says why a probe is not healthy', async () => {
    for (const id of ['deg-1', 'drain-1', 'odd-1', 'never-1', 'frozen-1', 'type-1']) await bed.addProbe(id);
    await bed.beat('deg-1', { degraded: ['ping: no raw sockets', 'IPv6 self-test fails.'] });
    await bed.redis.set(redisKeys.heartbeat('odd-1'), '{"v":2}', 'PX', 15_000);
    // A heartbeat without a lifetime must not make its probe look online permanently.
    await bed.redis.set(redisKeys.heartbeat('frozen-1'), '{}');
    await bed.redis.hset(redisKeys.heartbeat('type-1'), 'no', 'string');
    // Written last, so that a list with this heartbeat has the other heartbeats, too.
    await bed.beat('drain-1', { draining: true });
    await until(async () => (await bed.core.probes.list())['drain-1']?.status === 'degraded');
    const probes = await bed.core.probes.list();

    expect(probes['deg-1']).toMatchObject({
      status: 'degraded',
      reason: 'ping: no raw sockets. IPv6 self-test fails.',
    });
    expect(probes['drain-1']).toMatchObject({ status: 'degraded', reason: expect.stringContaining('shutting down') });
    expect(probes['odd-1']).toMatchObject({ status: 'degraded', reason: expect.stringContaining('heartbeat') });
    expect(probes['never-1']).toMatchObject({ status: 'offline', reason: 'Never seen.', lastSeen: null });
    expect(probes['frozen-1']).toMatchObject({ status: 'offline' });
    expect(probes['type-1']).toMatchObject({ status: 'offline' });
  });

  it.concurrent('drops a probe a day after it was seen, and keeps its record', async () => {
    await bed.addProbe('old-1');
    await bed.addProbe('new-1');
    await bed.redis.hset(
      redisKeys.lastSeen,
      'old-1',
      Date.now() - DAY_MS - 60_000,
      'new-1',
      Date.now() - DAY_MS + 60_000,
    );
    await until(async () => 'new-1' in (await bed.core.probes.list()));

    await until(async () => !('old-1' in (await bed.core.probes.list())));

    expect((await bed.core.probeRecords.list()).map(({ id }) => id)).toContain('old-1');
    expect(await bed.create({ probes: ['old-1'] })).toMatchObject({ created: true });
  });

  it.concurrent('does not list what has a heartbeat and no record, or a record that is broken', async () => {
    await bed.beat('stranger');
    await bed.redis.sadd(redisKeys.probeIds, 'broken', 'gone');
    await bed.redis.set(redisKeys.probeRecord('broken'), '{"id":"broken"');
    await bed.addProbe('last');
    await until(async () => 'last' in (await bed.core.probes.list()));

    expect(
      Object.keys(await bed.core.probes.list()).filter((id) => ['stranger', 'broken', 'gone'].includes(id)),
    ).toEqual([]);
    await bed.redis.srem(redisKeys.probeIds, 'broken', 'gone');
  });
});

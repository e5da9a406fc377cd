import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { redisKeys } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Queue } from 'bullmq';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';

import { startCoreBed, until, type CoreBed } from '../../test/core-bed.ts';
import { readAdminConfig } from './config.ts';
import { runProbeAdmin } from './commands.ts';
import { showFault } from './output.ts';

let bed: CoreBed;

beforeAll(async () => {
  bed = await startCoreBed();
});

afterAll(async () => bed.stop());

async function run(...args: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runProbeAdmin(args, readAdminConfig({ REDIS_URL: bed.server.url }), {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

const required = [
  '--name',
  'Frankfurt 1',
  '--datacenter',
  'FRA',
  '--country',
  'de',
  '--isp',
  'Example',
  '--asn',
  'as64496',
];

describe('the commands on probe records', () => {
  it('add, list and remove a record, which the core sees', async () => {
    const place = ['--city', 'Frankfurt', '--lat', '50.11', '--lon', '-8.68', '--tag', 'demo,eu', '--tag', 'x'];
    const added = await run('add', 'fra-1', ...required, ...place);
    await until(async () => 'fra-1' in (await bed.core.probes.list()));
    const listed = await run('list');
    const removed = await run('remove', 'fra-1');
    await until(async () => !('fra-1' in (await bed.core.probes.list())));

    expect(added.code).toBe(0);
    expect(added.out).toMatch(/^PROBE_ID=fra-1\nREDIS_URL=redis:\/\/probe-fra-1:[\w-]{43}@127\.0\.0\.1:\d+$/);
    expect(added.err).toContain('Probe fra-1 is recorded.');
    expect(JSON.parse(listed.out)).toEqual({
      id: 'fra-1',
      metrics: null,
      name: 'Frankfurt 1',
      datacenter: 'FRA',
      countryCode: 'DE',
      isp: 'Example',
      asNumber: 'AS64496',
      city: 'Frankfurt',
      latitude: 50.11,
      longitude: -8.68,
      tags: ['demo', 'eu', 'x'],
      agent: { transport: null, version: null, state: 'offline', reason: null, key: null },
    });
    expect(removed.code).toBe(0);
    expect(await bed.redis.exists(redisKeys.probeRecord('fra-1'), redisKeys.results('fra-1'))).toBe(0);
    expect((await run('remove', 'fra-1')).code).toBe(1);
  });

  it('offer addresses of a probe to the others, whatever its agent claims', async () => {
    await run('add', 'off-1', ...required);
    await bed.beat('off-1', { offers: ['192.0.2.66'] } as never);
    const listed = async (): Promise<unknown> => (await bed.core.probes.list())['off-1']?.offers;
    await until(async () => 'off-1' in (await bed.core.probes.list()));
    expect(await listed()).toBeUndefined();

    const offered = await run('offer', 'off-1', '2001:DB8::0:5', '203.0.113.5');
    const afterwards = await listed();
    const withdrawn = await run('offer', 'off-1', '--withdraw');

    expect(offered).toMatchObject({ code: 0, err: expect.stringContaining('offers 203.0.113.5 and 2001:db8::5') });
    expect(offered.err).toContain('203.0.113.0/24');
    expect(afterwards).toEqual(['203.0.113.5', '2001:db8::5']);
    expect([withdrawn.code, await listed()]).toEqual([0, undefined]);
    await bed.redis.hset(redisKeys.agentKey('off-1'), 'address', '8.8.8.8');
    expect((await run('offer', 'off-1', '9.9.9.9')).err).toContain('connects from 8.8.8.8, not from 9.9.9.9');
    await run('remove', 'off-1');
    expect(await bed.redis.hexists(redisKeys.offeredAddresses, 'off-1')).toBe(0);
  });

  it('set the address of the metrics of an agent, whatever the agent claims', async () => {
    const addresses = async () => Object.fromEntries(await bed.core.probes.metricsAddresses());
    await run('add', 'met-1', ...required, '--metrics', '[2001:db8::5]:9464');
    await bed.beat('met-1', { metrics: '192.0.2.66:22' } as never);
    expect(await addresses()).toMatchObject({ 'met-1': '[2001:db8::5]:9464' });

    await run('add', 'met-1', ...required, '--record-only');
    expect(await addresses()).toMatchObject({ 'met-1': '[2001:db8::5]:9464' });
    const changed = await run('metrics', 'met-1', 'fra.example.net:9464');
    expect(changed).toMatchObject({ code: 0, err: expect.stringContaining('met-1 at fra.example.net:9464') });
    expect((await run('list')).out).toContain('"metrics":"fra.example.net:9464"');

    await run('metrics', 'met-1', '--withdraw');
    expect(await addresses()).not.toHaveProperty('met-1');
    await run('invite', 'met-1', '--url', 'https://vantage.example.com', '--metrics', '192.0.2.5:9464');
    expect(await addresses()).toMatchObject({ 'met-1': '192.0.2.5:9464' });
    await run('remove', 'met-1');
    expect(await addresses()).not.toHaveProperty('met-1');
    expect(await run('metrics', 'met-1', '192.0.2.5:9464')).toMatchObject({ code: 1 });
  });

  it.each([
    ['no address of metrics', ['metrics', 'fra-1'], '<host:port>: is required'],
    [
      'metrics without a port',
      ['metrics', 'fra-1', '192.0.2.5'],
      '<host:port>: must be a name or an address with a port',
    ],
    ['metrics by URL', ['invite', 'fra-1', '--metrics', 'http://a:1/'], '--metrics: must be a name or an address with'],
    ['metrics and their end', ['metrics', 'fra-1', 'a:1', '--withdraw'], 'cannot be combined with --withdraw'],
    ['no address', ['offer', 'fra-1'], '<address>: is required'],
    ['a name', ['offer', 'fra-1', 'fra.example.net'], 'must be an IPv4 or IPv6 address, not “fra.example.net”'],
    ['a network', ['offer', 'fra-1', '203.0.113.0/24'], 'must be an IPv4 or IPv6 address'],
    ['a mapped address', ['offer', 'fra-1', '::ffff:203.0.113.5'], 'must be an IPv4 or IPv6 address'],
    ['two of a family', ['offer', 'fra-1', '203.0.113.5', '203.0.113.6'], 'at most one of each family'],
    ['an address and its end', ['offer', 'fra-1', '203.0.113.5', '--withdraw'], 'cannot be combined with --withdraw'],
  ])('refuse %s', async (_what, args, fault) => {
    expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringContaining(fault) });
  });

  it('remove leaves nothing of a probe behind, the jobs that wait for it included', async () => {
    await run('add', 'gone-1', ...required);
    await until(async () => 'gone-1' in (await bed.core.probes.list()));
    const queue = new Queue('jobs', {
      connection: { host: '127.0.0.1', port: bed.server.port },
      prefix: redisKeys.queuePrefix('gone-1'),
    });
    await queue.add('tcp', {}, { jobId: 'waiting' });
    await queue.close();
    const before = await bed.redis.keys('p:{gone-1}:*');

    await run('remove', 'gone-1');

    expect(before).toContain('p:{gone-1}:jobs:waiting');
    expect(await bed.redis.keys('p:{gone-1}:*')).toEqual([]);
  });

  it('leave out what is optional', async () => {
    expect((await run('add', 'bare', ...required)).code).toBe(0);

    expect((await bed.core.probeRecords.list()).find(({ id }) => id === 'bare')).toMatchObject({
      city: null,
      latitude: null,
      longitude: null,
      tags: [],
    });
  });

  it('name every faulty argument', async () => {
    const { code, err } = await run(
      'add',
      'Fra_1',
      '--name',
      '',
      '--country',
      'Germany',
      '--isp',
      'x',
      '--asn',
      '3320',
      '--lat',
      '91',
      '--lon',
      'east',
      '--tag',
      'ok,Not Ok',
    );

    expect(code).toBe(2);
    for (const option of ['<id>', '--name', '--datacenter', '--country', '--asn', '--lat', '--lon', '--tag']) {
      expect(err).toMatch(new RegExp(`^${option}: `, 'm'));
    }
    expect(err).not.toMatch(/^--(isp|city): /m);
    expect(await bed.redis.sismember(redisKeys.probeIds, 'Fra_1')).toBe(0);
  });

  it.each([
    [['add'], '<id>: is required'],
    [['add', 'a', 'b', ...required], 'unexpected argument "b"; expected one probe id'],
    [['add', 'a', '--colour', 'red'], 'unknown option --colour; expected one of --name'],
    [['add', 'a', '--nam', 'red'], 'unknown option --nam; did you mean --name?'],
    [['add', 'a', ...required, '--city'], '--city: needs a value'],
    [['add', 'a', ...required, '--json=1'], '--json: takes no value'],
    [['add', 'a', ...required, '--city', '-x'], '--city: needs a value; one that begins with a hyphen'],
    [
      ['add', 'a', ...required, '--country', 'xyz'],
      '--country: must be a two-letter country code (ISO 3166-1), not “XYZ”',
    ],
    [['add', 'a', ...required, '--lat', '91'], '--lat: must be degrees from -90 to 90, not “91”'],
    [['add', 'a', ...required, '--tag', 'A!'], '--tag: must be at most 32 different tags'],
    [['add', 'a', '--name', 'x'], '--datacenter: is required'],
    [['invite', 'a', '--uses', '0'], '--uses: must be 1 to 1000'],
    [
      ['invite', 'a', ...required, '--name', 'a\u001B[31mb'],
      String.raw`--name: must be 1 to 128 characters that can be shown`,
    ],
    [['invite', 'a', ...required, '--name', 'a\nb'], String.raw`not “a\u{a}b”`],
    [['add', 'a', ...required, '--isp', 'a\u202Eb'], '--isp: must be 1 to 128 characters that can be shown'],
    [['add', 'a', ...required, '--datacenter', '\u2066x'], '--datacenter: must be 1 to 128'],
    [['add', 'a', ...required, '--city', ' '], '--city: must be 1 to 128'],
    [['suspend', 'a', '--reason', 'x\ny'], '--reason: must have no line breaks'],
    [['remove'], '<id>: is required'],
    [['remove', '--all'], 'unknown option --all'],
    [['list', 'x'], 'unexpected argument "x"; probe:list takes no probe id'],
    [['destroy'], 'unknown command "destroy"; expected one of add, '],
    [['key:ad'], 'unknown command "key:ad"; did you mean key:add?'],
    [['rotate', 'a', '--overlap', '--finish'], '--overlap and --finish are two steps.'],
    [['rotate', 'A*'], '<id>: must be'],
    [['remove', '{a}'], '<id>: must be'],
    [['tls', 'x'], 'unexpected argument "x"'],
    [['tls', '--host', 'a b'], '--host: must be a host name or an address'],
    [[], 'Usage:'],
  ])('name what is wrong with %j, and how the command is used', async (args, fault) => {
    const { code, err } = await run(...args);

    expect(code).toBe(2);
    expect(err.split('\n')).toContainEqual(expect.stringContaining(fault));
    const [command] = args;
    const known = command !== undefined && !['destroy', 'key:ad'].includes(command);
    expect(err).toContain(known ? `Usage:\n  probe:${command}` : 'Usage:\n  probe:add');
  });

  it('say so when Redis is not there', async () => {
    const err: string[] = [];
    const config = readAdminConfig({ REDIS_URL: 'redis://someone:very-secret@127.0.0.1:1' });
    const code = await runProbeAdmin(['list'], config, { out: () => 0, err: (line) => err.push(line) });

    expect(code).toBe(1);
    expect(err.join()).toContain('ECONNREFUSED');
    expect(err.join()).not.toContain('very-secret');
  });

  it('hint at the running service if no address of Redis was given', () => {
    const said = (environment: NodeJS.ProcessEnv): readonly string[] => {
      const err: string[] = [];
      const streams = { out: () => 0, err: (line: string) => void err.push(line) };
      showFault(new Error('connect ECONNREFUSED 127.0.0.1:6379'), readAdminConfig(environment), streams);
      return err;
    };

    expect(said({})).toEqual([expect.stringContaining('ECONNREFUSED'), expect.stringContaining('--data')]);
    expect(said({ REDIS_URL: 'redis://127.0.0.1:1' })).toHaveLength(1);
  });

  it('run as a program', async () => {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [bundledProgram('coordinator', 'admin/main'), 'add', 'prog-1', ...required],
      { env: { ...process.env, REDIS_URL: bed.server.url } },
    );

    expect(stdout).toMatch(/^PROBE_ID=prog-1\nREDIS_URL=.*\n$/);
    expect(stderr).toContain('Probe prog-1 is recorded.');
    expect(await bed.redis.sismember(redisKeys.probeIds, 'prog-1')).toBe(1);
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { redisKeys } from '@vantage/contract';
import { findRedisServer, freePort, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { certificateMint, opensslVersion } from '@vantage/test-support/certificate-mint';
import { packagesMissing, unpackPackages } from '@vantage/test-support/debian-packages';
import { createUntilFull } from '@vantage/test-support/programs/small-disk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';

import { startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { readConfig } from '../../config/config.ts';
import { startServer, type RunningServer } from '../../server.ts';
import { readAdminConfig } from '../config.ts';
import { caInUse } from './check-certificates.ts';
import { checkFiles } from './check-files.ts';
import { checkRedis } from './redis/check-redis.ts';
import { runDoctor } from './doctor.ts';
import { examineDeployment } from './examine-deployment.ts';
import type { DoctorFinding } from './finding.ts';

const PATIENT_MS = 240_000;
const executable = findRedisServer(process.env['PATH'] ?? '') ?? 'redis-server';
const folder = mkdtempSync(join(tmpdir(), 'vantage-doctor-'));
const faketimeMissing = await packagesMissing(['libfaketime']);
const canMount =
  process.env['CI'] !== undefined ||
  (process.getuid?.() === 0 && runs('unshare', '-m', 'mount', '-t', 'tmpfs', 'x', '/mnt'));

afterAll(() => rmSync(folder, { recursive: true }));

interface Report {
  readonly status: number;
  readonly findings: readonly DoctorFinding[];
  readonly err: string;
}

async function doctor(environment: Readonly<Record<string, string>>): Promise<Report> {
  const out: string[] = [];
  const err: string[] = [];
  const status = await runDoctor(['--json'], environment, {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
  });
  const { findings = [] } = JSON.parse(out.join('') || '{}') as { findings?: readonly DoctorFinding[] };
  return { status, findings, err: err.join('\n') };
}

/** Runs the doctor without its checks of files, which take seconds. */
async function examine(environment: Readonly<Record<string, string>>): Promise<Pick<Report, 'findings'>> {
  return { findings: await examineDeployment(readAdminConfig(environment), readConfig(environment)) };
}

/** Findings of this check that are not `ok`. */
function faults({ findings }: Pick<Report, 'findings'>, check: string): readonly string[] {
  return findings
    .filter((one) => one.check === check && one.status !== 'ok')
    .map((one) => `${one.status}: ${one.message}`);
}

describe('the doctor, of a deployment in order', () => {
  let bed: CoreBed;
  let server: RunningServer;
  let env: Record<string, string>;
  let closeGateway: () => Promise<void>;

  beforeAll(async () => {
    const limits = [
      '--client-output-buffer-limit',
      'normal 64mb 32mb 10',
      '--client-output-buffer-limit',
      'pubsub 128mb 64mb 30',
    ];
    bed = await startCoreBed({ arguments: ['--maxmemory', '1gb', ...limits] });
    server = await startServer({ host: '127.0.0.1', port: 0, publicUrl: undefined }, () => (request, response) => {
      response.end(request.url === '/healthz' ? '{"status":"ok"}' : '');
    });
    const gateway = bed.core.openGateway(new URL(server.publicUrl).origin);
    server.onAgent((request, socket, head) => gateway.upgrade(request, socket, head, '127.0.0.1'));
    closeGateway = gateway.close;
    env = { REDIS_URL: bed.server.url, PUBLIC_URL: server.publicUrl };
    await bed.addProbe('fra-1');
    await bed.keepAlive('fra-1');
    await until(async () => (await bed.core.probes.list())['fra-1']?.status === 'healthy');
  });

  afterAll(async () => {
    await Promise.all([server.close(0), closeGateway()]);
    await bed.stop();
  });

  it(
    'finds nothing, and ends with the worst that it found',
    async () => {
      const { status, findings } = await doctor(env);

      // The age of the bundled data depends on the day, the space on the machine.
      expect(findings.filter((one) => one.status !== 'ok' && !['geo', 'disk'].includes(one.check))).toEqual([]);
      const worst = ['ok', 'warning', 'error'].findLastIndex((name) => findings.some((one) => one.status === name));
      expect(status).toBe(worst);
      expect(new Set(findings.map(({ check }) => check))).toEqual(
        new Set([
          'redis.version',
          'redis.role',
          'redis.memory',
          'redis.budget',
          'redis.eviction',
          'redis.persistence',
          'redis.clients',
          'redis.output-buffers',
          'redis.writes',
          'disk',
          'clock',
          'probes',
          'service',
          'service.gateway',
          'geo',
        ]),
      );
    },
    PATIENT_MS,
  );

  it('names agents of another release, with which side to upgrade', async () => {
    await bed.addProbe('old-1');
    await bed.addProbe('new-1');
    await bed.beat('old-1', { version: '0.0.9' });
    await bed.beat('new-1', { version: '0.10.0' });
    const { findings } = await examine(env);
    await bed.core.probeRecords.remove('old-1');
    await bed.core.probeRecords.remove('new-1');

    const found = findings.filter(({ check }) => check === 'probe.release');
    expect(found.map(({ message, remedy }) => `${message} ${remedy}`)).toEqual([
      expect.stringMatching(
        /^The agent of probe new-1 is release 0\.10\.0, and this is 0\.1\.0\..*Upgrade the coordinators first/,
      ),
      expect.stringMatching(/^The agent of probe old-1 is release 0\.0\.9, and this is 0\.1\.0\. Upgrade the agent/),
    ]);
  });

  it('names the addresses of coordinators that have different ones', async () => {
    const nowMs = Date.now();
    await bed.redis.zadd(redisKeys.serviceUrls, nowMs, 'set https://a.example', nowMs, 'default http://localhost:8080');
    await bed.redis.zadd(redisKeys.serviceUrls, nowMs - 3_600_000, 'set https://old.example');
    const differing = await examine(env);
    await bed.redis.zrem(redisKeys.serviceUrls, 'default http://localhost:8080');
    const alike = await examine(env);

    expect(faults(differing, 'service.urls')).toEqual([
      expect.stringContaining(
        'different public addresses: http://localhost:8080 (PUBLIC_URL is not set, or is of loopback), https://a.example.',
      ),
    ]);
    expect(faults(alike, 'service.urls')).toEqual([]);
  });

  it('gives the reasons of probes that are degraded and offline', async () => {
    await bed.addProbe('sick-1');
    await bed.addProbe('gone-1');
    await bed.beat('sick-1', { degraded: ['No raw sockets.'] });
    const report = await examine(env);
    await bed.core.probeRecords.remove('sick-1');
    await bed.core.probeRecords.remove('gone-1');

    expect(faults(report, 'probe.status')).toEqual([
      'warning: Probe gone-1 is offline: Never seen.',
      'warning: Probe sick-1 is degraded: No raw sockets.',
    ]);
    expect(faults(report, 'probes')).toEqual([]);
  });

  it('notices a proxy that does not pass WebSocket upgrades on', async () => {
    const proxy = await listen((path) => (path === '/healthz' ? '{"status":"ok"}' : undefined));
    const report = await examine({ ...env, PUBLIC_URL: proxy.url });
    proxy.server.close();

    expect(faults(report, 'service.gateway')).toEqual([
      expect.stringMatching(/^warning: Agents cannot connect to .*404/),
    ]);
    expect(faults(report, 'service')).toEqual([]);
  });

  it('notices a coordinator that expects agents at another address', async () => {
    const { port } = new URL(server.publicUrl);
    const report = await examine({ ...env, PUBLIC_URL: `http://localhost:${port}` });

    expect(faults(report, 'service.gateway')).toEqual([
      `warning: Agents cannot connect to http://localhost:${port}: a coordinator there has ${server.publicUrl} as its PUBLIC_URL and refuses them (bad-signature).`,
    ]);
    expect(faults(report, 'service')).toEqual([]);
  });

  (opensslVersion() === null ? it.skip : it)('notices that a private CA signed the certificate', async () => {
    const mint = certificateMint();
    const own = mint.issue({ subject: '/CN=web', names: ['IP:127.0.0.1'] });
    mint.close();
    const server = createTlsServer(own, (_request, response) => response.end('{"status":"ok"}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const report = await examine({ ...env, PUBLIC_URL: url });
    server.close();

    expect(faults(report, 'service')).toEqual([
      `error: ${url} answers, but its certificate leads to no CA that this machine trusts, as agents and other clients may not either.`,
    ]);
    expect(report.findings.find(({ check }) => check === 'service')?.remedy).toContain('NODE_EXTRA_CA_CERTS');
  });

  it('notices that the public address is that of another program, and of none', async () => {
    const other = await listen(() => 'Welcome to nginx!');
    const wrong = await examine({ ...env, PUBLIC_URL: other.url });
    other.server.close();
    const none = await examine({ ...env, PUBLIC_URL: `http://127.0.0.1:${await freePort()}` });

    expect(faults(wrong, 'service')).toEqual([expect.stringContaining('not as a coordinator does')]);
    expect(faults(none, 'service')).toEqual([expect.stringContaining('ECONNREFUSED')]);
  });

  it(
    'reads the files and settings as a coordinator does',
    async () => {
      const monitors = join(folder, 'monitors.yml');
      const modules = join(folder, 'blackbox.yml');
      writeFileSync(monitors, 'monitors:\n  a: {check: {type: ping, host: 127.0.0.1}, every: 60s}\n');
      writeFileSync(modules, 'modules:\n  a: {prober: icmp, timeout: soon}\n');
      const report = await doctor({
        ...env,
        MONITORS_FILE: monitors,
        MODULES_FILE: modules,
        GEO_CITY_MMDB: '/absent.mmdb',
      });
      const settings = await doctor({ ...env, RATE_LIMIT_CHECK: 'many', TARGET_ALLOW: '300.1.1.1/8' });

      expect(faults(report, 'monitors')).toEqual([
        expect.stringMatching(/^error: .*monitors\.yml line 2: .*host.*loopback\.$/),
      ]);
      expect(faults(report, 'modules')).toEqual([expect.stringMatching(/^error: .*blackbox\.yml line 2: /)]);
      expect(faults(report, 'geo')).toContainEqual(expect.stringMatching(/^error: .*absent\.mmdb.*ENOENT/));
      expect(faults(settings, 'settings')).toEqual([
        expect.stringContaining('RATE_LIMIT_CHECK'),
        expect.stringContaining('TARGET_ALLOW'),
      ]);
      expect([report.status, settings.status]).toEqual([2, 2]);
    },
    PATIENT_MS,
  );

  it('warns of a variable whose name is close to a setting', async () => {
    const report = await doctor({ ...env, TARGET_DENNY: '192.0.2.0/24' });

    expect(faults(report, 'settings')).toEqual([
      'warning: TARGET_DENNY is no setting; TARGET_DENY was probably meant.',
    ]);
  });

  it('warns of settings that do not fit each other', async () => {
    const report = await examine({ ...env, RESULTS_MAX_MIB: '900', SCREENSHOTS_MAX_MIB: '100' });

    expect(faults(report, 'redis.budget')).toEqual([expect.stringContaining('1000 MiB of the 1.0 GiB')]);
  });

  it('shares what settings plan among the masters of a Cluster', () => {
    const info = new Map([['maxmemory', String(1_073_741_824)]]);
    const facts = { server: '127.0.0.1:1', info, config: undefined, isOpen: false, agentUsers: 0 };
    const budget = { resultsBytes: 1_500 * 1_048_576, screenshotsBytes: 300 * 1_048_576 };
    const planOf = (servers: number): readonly (string | undefined)[] =>
      checkRedis(facts, { budget, redisAgents: 0, servers })
        .filter(({ check }) => check === 'redis.budget')
        .flatMap(({ status, message }) => [status, /may take (.* MiB|.* GiB) of the/.exec(message)?.[1]]);

    expect(planOf(1)).toEqual(['warning', '1.8 GiB']);
    expect(planOf(3)).toEqual(['ok', '600 MiB']);
  });

  it.each([
    ['redis.login', { 'protected-mode': 'no', bind: '* -::*' }, /^error: .* needs no password/],
    ['redis.login', { 'protected-mode': 'no', bind: '127.0.0.1 -::1' }, undefined],
    ['redis.login', { 'protected-mode': 'yes', bind: '*' }, undefined],
    ['redis.users', { aclfile: '' }, /^warning: .* a restart loses 2 users of agents/],
    ['redis.users', { aclfile: '/data/users.acl' }, undefined],
  ])('says who may use Redis: %s with %j', (check, config, pattern) => {
    const facts = { server: '127.0.0.1:1', info: new Map<string, string>(), isOpen: true, agentUsers: 2 };
    const budget = { resultsBytes: 0, screenshotsBytes: 0 };
    const findings = checkRedis(
      { ...facts, config: new Map(Object.entries(config)) },
      { budget, redisAgents: 0, servers: 1 },
    );

    expect(faults({ findings }, check)).toEqual(pattern === undefined ? [] : [expect.stringMatching(pattern)]);
  });

  it('warns of rate limits that limit nothing, unless only this machine reaches the service', async () => {
    const limits = { RATE_LIMIT_CHECK: '1000000', RATE_LIMIT_TARGET: '1000000000' };
    const open = await examine({ ...env, ...limits, PUBLIC_URL: 'http://vantage.invalid' });
    const local = await examine({ ...env, ...limits });
    const usual = await examine({ ...env, PUBLIC_URL: 'http://vantage.invalid' });

    expect(faults(open, 'limits')).toEqual([
      'warning: RATE_LIMIT_CHECK is 1000000 requests a minute: one client can occupy all probes.',
      'warning: RATE_LIMIT_TARGET is 1000000000 a minute: clients can use the probes to flood a target.',
    ]);
    expect([faults(local, 'limits'), faults(usual, 'limits')]).toEqual([[], []]);
  });

  it('finds that all probes are offline, and that there are none', async () => {
    const empty = await startRedis();
    const redis = new Redis(empty.url);
    const none = await examine({ ...env, REDIS_URL: empty.url });
    await redis.set(redisKeys.probeRecord('fra-1'), (await bed.redis.get(redisKeys.probeRecord('fra-1')))!);
    await redis.sadd(redisKeys.probeIds, 'fra-1');
    const offline = await examine({ ...env, REDIS_URL: empty.url });
    redis.disconnect();
    await empty.stop();

    expect(faults(none, 'probes')).toEqual(['error: There are no probes, so no check can run.']);
    expect(faults(offline, 'probes')).toEqual(['error: The only probe is offline: no check can run.']);
  });
});

it(
  'warns of geo data that is old',
  async () => {
    const findings = await checkFiles(readConfig({ REDIS_URL: 'redis://127.0.0.1' }), new Date('2040-01-01'));

    expect(findings.map(({ check, status }) => `${check} ${status}`)).toEqual(['geo warning', 'geo warning']);
  },
  PATIENT_MS,
);

describe('the doctor, of a Redis that', () => {
  const started: { readonly stop: () => Promise<unknown> }[] = [];

  afterEach(async () => {
    for (const one of started.splice(0)) await one.stop();
  });

  const start = async (...args: Parameters<typeof startRedis>): Promise<RedisServer> => {
    const server = await startRedis(...args);
    started.push(server);
    return server;
  };

  it.each([
    [
      'evicts keys',
      ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'],
      'redis.eviction',
      /^error: .*allkeys-lru.*deletes/,
    ],
    [
      'would evict keys with a limit',
      ['--maxmemory-policy', 'volatile-ttl'],
      'redis.eviction',
      /^warning: .*volatile-ttl.*no effect/,
    ],
    ['has no memory limit', [], 'redis.memory', /^warning: .*no memory limit/],
    [
      'has more than its machine',
      ['--maxmemory', '90000gb'],
      'redis.memory',
      /^warning: .*the kernel may kill it first/,
    ],
    ['is full', ['--maxmemory', '500kb'], 'redis.memory', /^error: .* of 0\.5 MiB/],
    ['keeps nothing on disk', ['--appendonly', 'no'], 'redis.persistence', /^error: .*a restart loses/],
    [
      'has snapshots only',
      ['--appendonly', 'no', '--save', '60 1'],
      'redis.persistence',
      /^warning: .*since its last snapshot/,
    ],
    ['does not sync', ['--appendfsync', 'no'], 'redis.persistence', /^warning: .*appendfsync no/],
    ['has few connections', ['--maxclients', '20'], 'redis.clients', /^warning: .*at most 20 clients/],
    ['buffers without a limit', [], 'redis.output-buffers', /^warning: .*without a limit/],
    [
      'cuts subscribers early',
      ['--client-output-buffer-limit', 'normal 64mb 32mb 10', '--client-output-buffer-limit', 'pubsub 1mb 1mb 1'],
      'redis.output-buffers',
      /^warning: .*subscriber that is 1\.0 MiB behind/,
    ],
    ['is a replica', ['--replicaof', '127.0.0.1', '1'], 'redis.role', /^error: .*replica/],
    ['refuses writes', ['--maxmemory', '500kb'], 'redis.writes', /^error: .*OOM/],
  ])('%s', async (_reason, args, check, pattern) => {
    const server = await start(args);

    const report = await examine({ REDIS_URL: server.url });

    expect(faults(report, check)).toEqual([expect.stringMatching(pattern)]);
  });

  it('does not show its configuration', async () => {
    const server = await start();
    const redis = new Redis(server.url);
    await redis.call('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '&*', '+@all', '-config');
    redis.disconnect();

    const report = await examine({ REDIS_URL: server.url.replace('//', '//limited:secret@') });

    expect(faults(report, 'redis.output-buffers')).toEqual([expect.stringContaining('CONFIG GET')]);
    expect(faults(report, 'redis.eviction')).toEqual([]);
  });

  it('does not answer, whose password is not printed', async () => {
    const report = await examine({ REDIS_URL: `redis://:hidden@127.0.0.1:${await freePort()}` });

    expect(faults(report, 'redis')).toEqual([expect.stringContaining('ECONNREFUSED')]);
    expect(JSON.stringify(report)).not.toContain('hidden');
  });

  it('has as many clients as it takes', async () => {
    const server = await start(['--maxclients', '5']);
    const { hostname, port } = new URL(server.url);
    const holders = Array.from({ length: 5 }, () => connect({ host: hostname, port: Number(port) }));
    await Promise.all(holders.map((socket) => once(socket, 'connect')));

    const { findings } = await examine({ REDIS_URL: server.url });

    for (const socket of holders) socket.destroy();
    expect(findings).toEqual([
      {
        check: 'redis',
        status: 'error',
        message: expect.stringMatching(/ cannot be examined: ERR max number of clients reached\.$/),
        remedy: expect.stringMatching(/^Raise maxclients of Redis/),
      },
    ]);
  });

  (faketimeMissing === null ? it : it.skip).each([
    ['-90s', 1, /^warning: The clock of this machine is (89|9\d) s behind that of Redis/],
    ['+3d', 2, /^error: The clock of this machine is 2\d{5} s ahead of that of Redis/],
  ])(
    'has another clock than this machine: %s',
    async (offset, least, pattern) => {
      const { folder: unpacked } = await unpackPackages('libfaketime');
      // If the package is installed on this machine, it is not unpacked: the library is in /usr/lib.
      const places = [unpacked, '/usr/lib', '-name', 'libfaketime.so.1'];
      const [library] = execFileSync('find', places, { encoding: 'utf8' }).split('\n');
      const server = await start();

      const { stdout, status } = spawnSync(
        process.execPath,
        [bundledProgram('coordinator', 'admin/main'), 'doctor', '--json'],
        {
          encoding: 'utf8',
          env: { REDIS_URL: server.url, LD_PRELOAD: library, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' },
        },
      );

      const report = JSON.parse(stdout) as Report;
      expect(faults(report, 'clock')).toEqual([expect.stringMatching(pattern)]);
      expect(status).toBeGreaterThanOrEqual(least);
    },
    PATIENT_MS,
  );

  (canMount ? it : it.skip)('has a full disk', async () => {
    const data = join(folder, 'small');
    execFileSync('mkdir', [data]);
    const server = await start(
      [],
      `[ -n "$MOUNTED" ] || MOUNTED=1 exec unshare -m "$0" "$@"; mount -t tmpfs -o size=24m x ${data}`,
      data,
    );
    const redis = new Redis(server.url);
    const before = await examine({ REDIS_URL: server.url });
    fill(`/proc/${server.pid}/root${data}/filler`);
    // The append-only file is flushed every second; writes are refused after a failure.
    await until(async () => (await redis.set('a', 'x'.repeat(100_000)).catch(() => 'refused')) === 'refused');
    redis.disconnect();

    const report = await examine({ REDIS_URL: server.url });

    expect(faults(before, 'redis.writes')).toEqual([]);
    expect(faults(report, 'disk')).toEqual([
      expect.stringMatching(/^error: The disk of Redis .*small\) has 0\.0 MiB free/),
      expect.stringContaining('is memory (tmpfs)'),
    ]);
    expect(faults(report, 'redis.writes')).toEqual([expect.stringMatching(/^error: Redis refuses writes: MISCONF/)]);
    expect(faults(report, 'redis.disk-writes')).toEqual([
      expect.stringContaining('the last write of the append-only file failed'),
    ]);
  });

  (canMount ? it : it.skip)('has no inodes left on its disk', async () => {
    const data = join(folder, 'few');
    execFileSync('mkdir', [data]);
    const server = await start(
      [],
      `[ -n "$MOUNTED" ] || MOUNTED=1 exec unshare -m "$0" "$@"; mount -t tmpfs -o size=2g,nr_inodes=200 x ${data}`,
      data,
    );
    const before = await examine({ REDIS_URL: server.url });
    createUntilFull(`/proc/${server.pid}/root${data}`);
    const redis = new Redis(server.url);
    await expect(redis.bgrewriteaof()).rejects.toThrow('ERR');
    const write = await redis.set('a', 'x');
    redis.disconnect();

    const report = await examine({ REDIS_URL: server.url });

    const inMemory = expect.stringMatching(
      /^warning: The disk of Redis .*few\) is memory \(tmpfs\): a restart of its machine/,
    );
    expect(faults(before, 'disk')).toEqual([inMemory]);
    expect(write).toBe('OK');
    expect(faults(report, 'redis.writes')).toEqual([]);
    expect(faults(report, 'disk')).toEqual([expect.stringMatching(/^error: .*few\) has 0 inodes left/), inMemory]);
    expect(faults(report, 'redis.disk-writes')).toEqual([
      expect.stringContaining('cannot rewrite its append-only file'),
    ]);
  });

  (opensslVersion() === null ? it.skip : it).each([
    ['has expired', -10, -1, /^error: The certificate of Redis at 127\.0\.0\.1:\d+ expired on /],
    ['expires soon', -10, 20, /^warning: The certificate of Redis at 127\.0\.0\.1:\d+ is valid until /],
    ['is not valid yet', 5, 90, /^error: The certificate of Redis at 127\.0\.0\.1:\d+ is not valid before /],
  ])('has a certificate that %s', async (_reason, from, end, pattern) => {
    const mint = certificateMint();
    const issuer = mint.issue({ subject: '/CN=CA', ca: true, from: -20, until: 100 });
    const { cert, key } = mint.issue({ subject: '/CN=redis', names: ['IP:127.0.0.1'], from, until: end, issuer });
    mint.close();
    for (const [name, text] of Object.entries({ 'ca.crt': issuer.cert, 'redis.crt': cert, 'redis.key': key })) {
      writeFileSync(join(folder, name), text);
    }
    const port = await freePort();
    const files = ['--tls-cert-file', join(folder, 'redis.crt'), '--tls-key-file', join(folder, 'redis.key')];
    const ca = join(folder, 'ca.crt');
    await start(['--tls-port', String(port), '--tls-auth-clients', 'no', '--tls-ca-cert-file', ca, ...files]);

    const report = await examine({ REDIS_URL: `rediss://127.0.0.1:${port}`, REDIS_CA_FILE: ca });

    expect(faults(report, 'redis.certificate')).toEqual([expect.stringMatching(pattern)]);
    expect(faults(report, 'redis.ca')).toEqual([expect.stringContaining('The CA of Redis is valid until')]);
  });
});

(opensslVersion() === null ? it.skip : it)('judges the CA in use of a file that has others too', () => {
  const mint = certificateMint();
  const ca = (name: string, from: number, until: number) =>
    mint.issue({ subject: `/CN=${name}`, ca: true, from, until });
  const [expired, older, newer] = [ca('A', -20, -1), ca('B', -20, 5), ca('C', -1, 400)];
  const issuedBy = (issuer: typeof older) =>
    new X509Certificate(mint.issue({ subject: '/CN=redis', from: -1, until: 4, issuer }).cert);
  const leaf = [issuedBy(newer), issuedBy(older)];
  mint.close();
  const inUse = (pems: readonly { readonly cert: string }[], ...presented: readonly X509Certificate[]): unknown =>
    caInUse(pems.map(({ cert }) => cert).join(''), presented)?.validTo;
  const end = ({ cert }: { readonly cert: string }): Date => new X509Certificate(cert).validToDate;

  expect(inUse([expired, older, newer], leaf[0]!)).toEqual(end(newer));
  expect(inUse([expired, older, newer], ...leaf)).toEqual(end(older));
  expect(inUse([expired, newer])).toEqual(end(newer));
  expect(inUse([expired])).toEqual(end(expired));
});

it('ends with 3 if its arguments or settings cannot be used', async () => {
  const err: string[] = [];
  const streams = { out: () => undefined, err: (line: string) => err.push(line) };

  expect(await runDoctor(['--jsn'], {}, streams)).toBe(3);
  expect(await runDoctor([], { REDIS_URL: 'localhost' }, streams)).toBe(3);
  expect(err.join('\n')).toMatch(/--jsn[\s\S]*REDIS_URL/);
});

/** @param before lines of a shell script that starts the server */
async function startRedis(args: readonly string[] = [], before = '', dataFolder?: string): Promise<RedisServer> {
  const own = mkdtempSync(join(folder, 'redis-'));
  // The name of the executable selects the server mode.
  symlinkSync(executable, join(own, 'redis-server'));
  const script = join(own, 'start.sh');
  writeFileSync(script, `#!/bin/sh\n${before}\nexec ${own}/redis-server "$@"\n`, { mode: 0o755 });
  return startRedisServer({ executable: script, arguments: args, ...(dataFolder === undefined ? {} : { dataFolder }) });
}

async function listen(
  answer: (path: string) => string | undefined,
): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    const text = answer(request.url ?? '');
    response.writeHead(text === undefined ? 404 : 200, { connection: 'close' }).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function fill(file: string): void {
  const handle = openSync(file, 'w');
  for (const bytes of [65_536, 4_096]) {
    try {
      for (;;) writeSync(handle, Buffer.alloc(bytes));
    } catch {
      // Expected: no space left.
    }
  }
  closeSync(handle);
}

function runs(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

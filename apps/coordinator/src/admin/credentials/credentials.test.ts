import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { agentUser } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { Redis } from 'ioredis';

import { until } from '../../../test/core-bed.ts';
import { readAdminConfig } from '../config.ts';
import { runProbeAdmin } from '../commands.ts';

const canMount =
  process.env['CI'] !== undefined ||
  (process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'x', '/mnt']).status === 0);

let folder: string;
let master: RedisServer;
let replica: RedisServer;
let redis: Redis;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vantage-admin-'));
  const executable = findRedisServer(process.env['PATH'] ?? '')!;
  const acl = join(folder, 'users.acl');
  writeFileSync(acl, '');
  master = await startRedisServer({ executable, arguments: ['--aclfile', acl, '--repl-diskless-sync-delay', '0'] });
  replica = await startRedisServer({ executable, arguments: ['--replicaof', '127.0.0.1', String(master.port)] });
  redis = new Redis(master.url);
  await until(async () => (await redis.info('replication')).includes('state=online'));
});

afterAll(async () => {
  redis.disconnect();
  await replica.stop();
  await master.stop();
  rmSync(folder, { recursive: true });
});

const record = ['--name', 'A', '--datacenter', 'B', '--country', 'DE', '--isp', 'C', '--asn', 'AS64496'];

interface Shown {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Shown> {
  const out: string[] = [];
  const err: string[] = [];
  const config = readAdminConfig({ REDIS_URL: master.url, REDIS_TLS_FOLDER: join(folder, 'tls'), ...more });
  const streams = { out: (line: string) => out.push(line), err: (line: string) => err.push(line) };
  const code = await runProbeAdmin(args, config, streams);
  return { code, out: out.join('\n'), err: err.join('\n') };
}

it('gives no agent the address of a database that it may not choose', async () => {
  const { code, err } = await run(['add', 'db-1', ...record], { REDIS_URL: `${master.url}/1` });

  expect([code, err]).toEqual([1, expect.stringContaining('Agents can use database 0 of Redis only')]);
  expect(await redis.call('ACL', 'GETUSER', agentUser('db-1'))).toBeNull();
  expect(() => readAdminConfig({ REDIS_URL: master.url, AGENT_REDIS_URL: 'redis://redis.example/1' })).toThrow(
    'AGENT_REDIS_URL must name no database but 0 for agents',
  );
});

function shell(line: string): void {
  execFileSync('sh', ['-c', line]);
}

function urlIn(environment: string): string {
  return /^REDIS_URL=(.*)$/m.exec(environment)![1]!;
}

async function canLogIn(url: string, port = master.port): Promise<boolean> {
  const at = new URL(url);
  at.port = String(port);
  const user = new Redis(at.href, { enableReadyCheck: false, disableClientInfo: true, retryStrategy: null });
  user.on('error', () => undefined);
  const answer = await user.time().catch(() => undefined);
  user.disconnect();
  return answer !== undefined;
}

describe('the credentials of an agent', () => {
  it('are made with the record, on the master and on its replica, and kept in the ACL file', async () => {
    const { code, out, err } = await run(['add', 'one', ...record]);
    const file = readFileSync(join(folder, 'users.acl'), 'utf8');

    expect(code).toBe(0);
    expect(await canLogIn(urlIn(out))).toBe(true);
    expect(await canLogIn(urlIn(out), replica.port)).toBe(true);
    expect(file).toContain(`user ${agentUser('one')} on `);
    expect(err).toMatch(new RegExp(`:${replica.port} has no ACL file`));
  });

  it('are shown once: the password is in no other place', async () => {
    const { out } = await run(['add', 'once', ...record]);
    const password = new URL(urlIn(out)).password;
    const again = await run(['add', 'once', ...record]);
    const listed = await run(['list', '--json']);

    const file = readFileSync(join(folder, 'users.acl'), 'utf8');
    expect(Buffer.from(password, 'base64url')).toHaveLength(32);
    expect(file + again.out + again.err + listed.out).not.toContain(password);
    expect(again.out).toBe('');
    expect(await canLogIn(urlIn(out))).toBe(true);
  });

  it('are written again, with the same password, on a node that lost them', async () => {
    const { out } = await run(['add', 'lost', ...record]);
    await redis.call('ACL', 'DELUSER', agentUser('lost'));
    const lost = await canLogIn(urlIn(out));

    await run(['add', 'lost', ...record]);

    expect(lost).toBe(false);
    expect(await canLogIn(urlIn(out))).toBe(true);
  });

  it('are in a file that its owner alone can read, which is never written over', async () => {
    const path = join(folder, 'file.env');
    const first = await run(['add', 'file', ...record, '--env', path]);
    const before = readFileSync(path, 'utf8');
    const mode = statSync(path).mode & 0o777;
    const other = await run(['add', 'other', ...record, '--env', path]);
    await redis.call('ACL', 'DELUSER', agentUser('file'));
    const second = await run(['add', 'file', ...record, '--env', path]);

    expect([first.code, first.out, mode]).toEqual([0, '', 0o600]);
    expect([other.code, other.err]).toEqual([1, expect.stringContaining('no environment file of other')]);
    expect([second.code, readFileSync(path, 'utf8')]).toEqual([0, before]);
    expect(await canLogIn(urlIn(before))).toBe(true);
  });

  it('are replaced: the old password is void, and who came in by it is out', async () => {
    const { out } = await run(['add', 'old', ...record]);
    const user = new Redis(urlIn(out), { enableReadyCheck: false, disableClientInfo: true, retryStrategy: null });
    user.on('error', () => undefined);
    await user.time();
    const ended = new Promise<void>((resolve) => user.once('end', resolve));

    const rotated = await run(['rotate', 'old']);
    await ended;

    expect(await canLogIn(urlIn(out))).toBe(false);
    expect(await canLogIn(urlIn(rotated.out))).toBe(true);
  });

  it('are not brought back, once replaced, by the file that has them', async () => {
    const path = join(folder, 'replaced.env');
    await run(['add', 'replaced', ...record, '--env', path]);
    const rotated = await run(['rotate', 'replaced']);

    const again = await run(['add', 'replaced', ...record, '--env', path]);

    expect([again.code, again.err]).toEqual([0, expect.stringContaining(`The password in ${path} was replaced`)]);
    expect(await canLogIn(urlIn(readFileSync(path, 'utf8')))).toBe(false);
    expect(await canLogIn(urlIn(rotated.out))).toBe(true);
  });

  it('are replaced in two steps: both passwords hold in between', async () => {
    const { out } = await run(['add', 'two', ...record]);
    const rotated = await run(['rotate', 'two', '--overlap']);
    const between = [await canLogIn(urlIn(out)), await canLogIn(urlIn(rotated.out))];
    const finished = await run(['rotate', 'two', '--finish']);

    expect(between).toEqual([true, true]);
    expect([await canLogIn(urlIn(out)), await canLogIn(urlIn(rotated.out))]).toEqual([false, true]);
    expect([finished.code, finished.out]).toEqual([0, '']);
  });

  (canMount ? it : it.skip)('are as they were if the disk of the file is full, which leaves no file', async () => {
    const full = join(folder, 'full');
    mkdirSync(full);
    shell(`mount -t tmpfs -o size=4k x ${full}`);
    try {
      const { out } = await run(['add', 'packed', ...record]);
      writeFileSync(join(full, 'filler'), 'x'.repeat(4_096));
      const rotated = await run(['rotate', 'packed', '--env', join(full, 'packed.env')]);
      const added = await run(['add', 'packed-2', ...record, '--env', join(full, 'packed-2.env')]);

      for (const { code, err } of [rotated, added]) expect([code, err]).toEqual([1, expect.stringContaining('ENOSPC')]);
      expect(await canLogIn(urlIn(out))).toBe(true);
      expect(await redis.call('ACL', 'USERS')).not.toContain(agentUser('packed-2'));
      expect(readdirSync(full)).toEqual(['filler']);
    } finally {
      shell(`umount ${full}`);
    }
  });

  it('go with the probe', async () => {
    const { out } = await run(['add', 'gone', ...record]);

    expect((await run(['remove', 'gone'])).code).toBe(0);

    expect(await canLogIn(urlIn(out))).toBe(false);
    expect(await canLogIn(urlIn(out), replica.port)).toBe(false);
    expect((await run(['rotate', 'gone'])).code).toBe(1);
    expect((await run(['enable', 'gone'])).code).toBe(1);
  });

  it('name the CA where agents come over TLS, which is made once', async () => {
    const AGENT_REDIS_URL = 'rediss://redis.example.net:6380';
    const first = await run(['add', 'tls-1', ...record, '--json'], { AGENT_REDIS_URL });
    const second = await run(['add', 'tls-2', ...record, '--json'], { AGENT_REDIS_URL });
    const without = await run(['add', 'tls-3', ...record, '--no-ca', '--json'], { AGENT_REDIS_URL });

    const [one, two, three] = [first, second, without].map(
      ({ out }) => (JSON.parse(out) as { environment: Record<string, string> }).environment,
    );
    expect(one!['REDIS_URL']).toMatch(/^rediss:\/\/probe-tls-1:[\w-]{43}@redis\.example\.net:6380$/);
    expect(one!['REDIS_CA']).toMatch(/^MII[\w+/=]+$/);
    expect(two!['REDIS_CA']).toBe(one!['REDIS_CA']);
    expect(three).not.toHaveProperty('REDIS_CA');
  });

  it('are written on every node that is listed, and one that is away is named', async () => {
    const nodes = `${master.url},redis://127.0.0.1:1`;
    const { code, out, err } = await run(['add', 'listed', ...record], { REDIS_NODES: nodes });

    expect(code).toBe(1);
    expect(err).toContain('127.0.0.1:1: ');
    expect(await canLogIn(urlIn(out))).toBe(true);
    expect(await canLogIn(urlIn(out), replica.port)).toBe(false);
  });

  it('warn of a Redis that anybody may use, and of passwords in clear', async () => {
    const { err } = await run(['add', 'warned', ...record], { AGENT_REDIS_URL: 'redis://redis.example.net' });

    expect(err).toContain('The default user of Redis needs no password');
    expect(err).toContain('password in clear');
  });

  it('are not taken from a node that was away when they were replaced', async () => {
    const { out } = await run(['add', 'away', ...record]);
    const onReplica = `redis://127.0.0.1:${replica.port}`;
    await run(['rotate', 'away'], { REDIS_NODES: master.url });
    const both = { REDIS_NODES: `${onReplica},${master.url}` };

    const again = await run(['add', 'away', ...record], both);
    const overlapped = await run(['rotate', 'away', '--overlap'], both);
    const voided = !(await canLogIn(urlIn(out)));
    const rotated = await run(['rotate', 'away'], both);

    for (const { code, err } of [again, overlapped]) {
      expect([code, err]).toEqual([1, expect.stringContaining('different passwords of away')]);
    }
    expect(voided).toBe(true);
    expect([await canLogIn(urlIn(out), replica.port), await canLogIn(urlIn(rotated.out), replica.port)]).toEqual([
      false,
      true,
    ]);
  });

  it('stay as they are where Redis does not let them be changed', async () => {
    const { out } = await run(['add', 'kept', ...record]);
    await redis.call('ACL', 'SETUSER', 'limited', 'on', '>pw', '~*', '&*', '+@all', '-acl|setuser');
    const REDIS_URL = master.url.replace('redis://', 'redis://limited:pw@');
    const REDIS_NODES = REDIS_URL;
    const path = join(folder, 'kept.env');
    const ways = [['--env', path], ['--overlap'], ['--finish']];
    const shown = [];
    for (const way of ways) shown.push(await run(['rotate', 'kept', ...way], { REDIS_URL, REDIS_NODES }));

    for (const { code, out: said, err } of shown) {
      expect([code, said]).toEqual([1, '']);
      expect(err).toMatch(/^The passwords of kept are as they were\.\n.*NOPERM/);
    }
    expect(existsSync(path)).toBe(false);
    expect(await canLogIn(urlIn(out))).toBe(true);
  });

  it('are not given into a device, which may be read without end', async () => {
    const { code, err } = await run(['add', 'device', ...record, '--env', '/dev/full']);

    expect([code, err]).toEqual([1, expect.stringContaining('/dev/full is no regular file')]);
  });

  it('leave no empty file behind where the CA cannot sign', async () => {
    const tls = join(folder, 'tls-no-key');
    await run(['tls', '--host', 'one.example.net'], { REDIS_TLS_FOLDER: tls });
    rmSync(join(tls, 'ca', 'ca.key'));
    const path = join(folder, 'unmade.env');
    const settings = { REDIS_TLS_FOLDER: tls, AGENT_REDIS_URL: 'rediss://other.example.net:6380' };

    const { code, err } = await run(['add', 'unmade', ...record, '--env', path], settings);

    expect([code, err]).toEqual([1, expect.stringContaining('ca.key is not there')]);
    expect(existsSync(path)).toBe(false);
  });

  it('are given without a password of the operator’s own that stands behind the hosts', async () => {
    const REDIS_URL = `${master.url}?password=operators-own`;

    const without = await run(['add', 'apart', ...record], { REDIS_URL });
    const own = await run(['add', 'apart', ...record], { REDIS_URL, AGENT_REDIS_URL: master.url });

    expect([without.code, without.out]).toEqual([1, '']);
    expect(without.err).toContain('set AGENT_REDIS_URL');
    expect(own.code).toBe(0);
    expect(own.out).not.toContain('operators-own');
  });

  it('may be left alone', async () => {
    const { code, out } = await run(['add', 'plain', ...record, '--record-only']);

    expect([code, out]).toEqual([0, '']);
    expect(await redis.call('ACL', 'GETUSER', agentUser('plain'))).toBeNull();
  });
});

describe('the settings of the commands', () => {
  it('name every fault and show no secret', () => {
    const environment = { REDIS_URL: 'http://a:very-secret@b', AGENT_REDIS_URL: 'x', REDIS_CA_FILE: '/nowhere' };

    expect(() => readAdminConfig(environment)).toThrow(
      /REDIS_URL cannot be read; allowed: .*\n.*REDIS_CA_FILE .*\n.*AGENT_REDIS_URL /,
    );
    expect(() => readAdminConfig(environment)).not.toThrow(/very-secret/);
  });
});

import { execFile, fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { until } from '@vantage/test-support/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Check, Probes } from '@vantage/contract';
import { findRedisServer, freePort, type RedisServer, startRedisServer } from '@vantage/redis-server';
import { fetchAccepted } from '@vantage/test-support/programs/fetch-accepted';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';

import { openRedisLogin } from './redis-login.ts';

/** A deployment as documented: Redis over TLS without a default user, a coordinator, and enrolled agents. */
let folder: string;
let redis: RedisServer;
let tlsPort: number | undefined;
let coordinatorUrl: string;
const children: ChildProcess[] = [];
let target: Server;
/** The CA of another operator, on one line. */
let foreignCa = '';

const password = randomBytes(24).toString('base64url');
/** Time for several polls and dozens of connection attempts, each of which might log a line. */
const SEVERAL_ATTEMPTS_MS = 8_000;
const record = ['--name', 'A', '--datacenter', 'B', '--country', 'DE', '--isp', 'C', '--asn', 'AS64496'];
const tlsUrl = (host = '127.0.0.1'): string => `rediss://${host}:${tlsPort}`;

beforeAll(async () => {
  target = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(target, 'listening');
  folder = mkdtempSync(join(tmpdir(), 'vantage-tls-e2e-'));
  const redisFolder = join(folder, 'redis');
  mkdirSync(redisFolder);
  const { aclFile } = openRedisLogin(redisFolder);
  writeFileSync(aclFile, `user default off resetpass ~* &* +@all\nuser coordinator on >${password} ~* &* +@all\n`);
  await admin({}, 'tls', '--host', '127.0.0.1');
  const executable = findRedisServer(process.env['PATH'] ?? '')!;
  const tls = join(folder, 'tls', 'redis');
  const files = ['--tls-cert-file', join(tls, 'redis.crt'), '--tls-key-file', join(tls, 'redis.key')];
  // Another program may take the port before Redis binds it: then another port is tried.
  for (;;) {
    tlsPort = await freePort();
    const listening = [
      '--tls-port',
      String(tlsPort),
      '--tls-ca-cert-file',
      join(tls, 'ca.crt'),
      '--tls-auth-clients',
      'no',
    ];
    const options = { executable, dataFolder: redisFolder, arguments: ['--aclfile', aclFile, ...files, ...listening] };
    const started = await startRedisServer(options).catch((error: Error) => error);
    if (!Error.isError(started)) {
      redis = started;
      break;
    }
    if (!/Address already in use|Failed listening/.test(started.message)) throw started;
  }
  const coordinator = start(bundledProgram('coordinator'), {
    PORT: '0',
    REDIS_URL: tlsUrl().replace('//', `//coordinator:${password}@`),
    REDIS_CA_FILE: join(tls, 'ca.crt'),
    TARGET_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
    RATE_LIMIT_PROBES: '1000000',
  });
  const [{ port }] = (await once(coordinator, 'message')) as [{ readonly port: number }];
  coordinatorUrl = `http://127.0.0.1:${port}`;
});

afterAll(async () => {
  target.close();
  await Promise.all(children.map(end));
  await redis.stop();
  rmSync(folder, { recursive: true });
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function start(module: string, env: Readonly<Record<string, string>>, options: readonly string[] = []): ChildProcess {
  const child = fork(module, [], {
    execArgv: [...options],
    env: programEnv(env),
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  children.push(child);
  return child;
}

/** Runs the operator's commands, as `npm run -s probe:…` does. */
async function admin(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> {
  const program = bundledProgram('coordinator', 'admin/main');
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], {
    env: {
      ...programEnv(),
      REDIS_TLS_FOLDER: join(folder, 'tls'),
      ...(tlsPort === undefined
        ? {}
        : { AGENT_REDIS_URL: tlsUrl(), REDIS_URL: tlsUrl().replace('//', `//coordinator:${password}@`) }),
      ...env,
    },
  });
  return stdout;
}

/** Starts the agent with this environment file and collects its log lines. */
function startAgent(envFile: string): { readonly child: ChildProcess; readonly log: () => string } {
  const env = { TARGET_ALLOW: '127.0.0.0/8', DNS_SERVERS: '127.0.0.1:9', SCREENSHOTS: 'off' };
  const child = start(bundledProgram('probe-agent'), env, [`--env-file=${envFile}`]);
  let log = '';
  child.stdout!.on('data', (chunk: Buffer) => (log += chunk.toString()));
  return { child, log: () => log };
}

async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetchAccepted(coordinatorUrl + path, init);
  return (await response.json()) as T;
}

async function startCheck(check: object): Promise<string> {
  const body = JSON.stringify(check);
  const headers = { 'content-type': 'application/json' };
  return (await ask<{ readonly checkId: string }>('/check', { method: 'POST', body, headers })).checkId;
}

async function completed(id: string): Promise<Check> {
  for (;;) {
    const check = await ask<Check>(`/check/${id}/results?wait=25`);
    if (check.status === 'completed') return check;
  }
}

async function isHealthy(probe: string): Promise<boolean> {
  const probes = await ask<Probes>('/probes');
  return ['healthy', 'degraded'].includes(probes[probe]?.status ?? '');
}

describe('an agent that was added by the operator’s command', () => {
  it('does its work over TLS with the file that the command wrote', async () => {
    const envFile = join(folder, 'fra-1.env');
    await admin({}, 'add', 'fra-1', ...record, '--env', envFile);
    const { child, log } = startAgent(envFile);
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`the agent ended with status ${child.exitCode}:\n${log()}`);
      return isHealthy('fra-1');
    });

    const id = await startCheck({ type: 'tcp', host: '127.0.0.1', port: (target.address() as AddressInfo).port });
    const { results } = await completed(id);

    expect(results['fra-1']).toMatchObject({ result: 'success', state: 'open' });
  }, 150_000);

  it.each([
    ['suspended', (id: string) => admin({}, 'suspend', id, '--reason', 'moved'), /suspended .* its operator: moved$/],
    ['removed', (id: string) => admin({}, 'remove', id), /removed/],
  ])(
    'that is %s while it runs a check ends it with the reason, not by the deadline',
    async (what, change, message) => {
      const id = `gone-${what}`;
      const envFile = join(folder, `${id}.env`);
      await admin({}, 'add', id, ...record, '--env', envFile);
      const { child } = startAgent(envFile);
      await until(() => isHealthy(id));
      const asked = once(target, 'connection');
      // The target takes the connection and sends nothing.
      const host = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
      const checkId = await startCheck({ type: 'http', host, probes: [id] });
      await asked;

      await change(id);
      const { results } = await completed(checkId);
      await end(child);

      expect(results[id]).toMatchObject({
        result: 'error',
        error: { code: `probe_${what}`, message: expect.stringMatching(message) },
      });
    },
    150_000,
  );

  beforeAll(async () => {
    const other = join(folder, 'other');
    await admin({ REDIS_TLS_FOLDER: other }, 'tls', '--host', '127.0.0.1');
    foreignCa = readFileSync(join(other, 'ca', 'ca.crt'), 'utf8').replaceAll(/-----[^-]+-----|\s/g, '');
  });

  it.each([
    [
      'a CA that is not its own',
      (text: string) => text.replace(/^REDIS_CA=.*$/m, `REDIS_CA=${foreignCa}`),
      /certificate/,
    ],
    [
      'a name that the certificate does not have',
      (text: string) => text.replace('@127.0.0.1:', '@localhost:'),
      /does not match certificate's altnames/,
    ],
    [
      'a password that is not its own',
      (text: string) => text.replace(/(REDIS_URL=rediss:\/\/[^:]+:)[^@]+/, '$1wrong'),
      /WRONGPASS/,
    ],
  ])(
    'refuses %s, and says so',
    async (_what, change, message) => {
      const envFile = join(folder, 'changed.env');
      writeFileSync(envFile, change(readFileSync(join(folder, 'fra-1.env'), 'utf8')));

      const { child, log } = startAgent(envFile);
      await until(() => message.test(log()));

      expect(log()).not.toContain('agent started');
      await end(child);
    },
    150_000,
  );

  describe('whose login is refused', () => {
    const cases: readonly (readonly [what: string, id: string, change: (id: string) => Promise<string>])[] = [
      ['whose password was rotated', 'rotated-1', (id) => rotate(id)],
      ['that was removed', 'removed-1', (id) => admin({}, 'remove', id)],
    ];
    /** Lines about the refusal in the log of each agent. */
    const logged = new Map<string, Promise<readonly string[]>>();

    // Concurrent: most of the time passes between attempts.
    beforeAll(() => {
      for (const [what, id, change] of cases) logged.set(what, refusedLater(id, change));
      logged.set('from the start', refusedAtOnce());
      // The test that awaits them reports a failure.
      for (const lines of logged.values()) lines.catch(() => undefined);
    });

    const rotate = (id: string): Promise<string> => admin({}, 'rotate', id, '--env', join(folder, `${id}.new.env`));

    async function refusals({ child, log }: ReturnType<typeof startAgent>): Promise<readonly string[]> {
      await until(() => log().includes('WRONGPASS'));
      await sleep(SEVERAL_ATTEMPTS_MS);
      const lines = log().trim().split('\n');
      await end(child);
      return lines.filter((line) => line.includes('WRONGPASS'));
    }

    async function refusedLater(id: string, change: (id: string) => Promise<string>): Promise<readonly string[]> {
      const envFile = join(folder, `${id}.env`);
      await admin({}, 'add', id, ...record, '--env', envFile);
      const agent = startAgent(envFile);
      await until(() => isHealthy(id));
      await change(id);
      return refusals(agent);
    }

    async function refusedAtOnce(): Promise<readonly string[]> {
      const envFile = join(folder, 'wrong.env');
      const text = readFileSync(join(folder, 'fra-1.env'), 'utf8');
      writeFileSync(envFile, text.replace(/(REDIS_URL=rediss:\/\/[^:]+:)[^@]+/, '$1wrong'));
      return refusals(startAgent(envFile));
    }

    it.each(cases)('%s says it once, however often it tries', async (what) => {
      expect(await logged.get(what)).toEqual([expect.stringContaining('"msg":"Redis login rejected"')]);
    });

    it('says it once for each connection if it starts with a password that is not its own', async () => {
      const lines = (await logged.get('from the start'))!;
      const connections = lines.map((line) => (JSON.parse(line) as { readonly connection?: string }).connection);

      expect(connections.length).toBeGreaterThan(0);
      expect(new Set(connections).size).toBe(connections.length);
      expect(connections).not.toContain(undefined);
    });
  });
});

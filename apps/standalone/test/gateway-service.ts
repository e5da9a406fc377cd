import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import type { Check, Probes } from '@vantage/contract';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { fetchAccepted } from '@vantage/test-support/programs/fetch-accepted';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';

import { runProbeAdmin } from '../../coordinator/src/admin/commands.ts';
import { readAdminConfig } from '../../coordinator/src/admin/config.ts';
import { makeCertificate } from './certificates.ts';
import { noFront, startFront, type Front } from './public-front.ts';

/** Coordinators behind one TLS address, as behind a reverse proxy, and agents that connect to their gateways. */
export interface GatewayService {
  /** Public address; its certificate is signed by `caFile`. */
  readonly url: string;
  readonly port: number;
  readonly caFile: string;
  readonly keyFile: string;
  readonly folder: string;
  readonly redis: RedisServer;
  readonly startCoordinator: (env?: Readonly<Record<string, string>>) => Promise<Coordinator>;
  /** Connections go to this coordinator from now on. */
  readonly route: (coordinator: Coordinator) => void;
  /** Opens another public address, with the same certificate, for a coordinator that is started with it. */
  readonly openAddress: (host: string) => Promise<{ readonly url: string; readonly route: GatewayService['route'] }>;
  /** Runs an operator's command. */
  readonly admin: (...args: readonly string[]) => Promise<string>;
  /** Runs an operator's command in this process, which saves the start of a program. */
  readonly adminHere: (...args: readonly string[]) => Promise<string>;
  /** Invites a new probe; returns the token. */
  readonly invite: (probe: string) => Promise<string>;
  readonly startAgent: (env: Readonly<Record<string, string>>) => StartedAgent;
  readonly probes: () => Promise<Probes>;
  readonly startCheck: (body: Readonly<Record<string, unknown>>) => Promise<string>;
  readonly read: (check: string) => Promise<Check>;
  readonly completed: (check: string) => Promise<Check>;
  readonly stop: () => Promise<void>;
}

export interface Coordinator {
  readonly port: number;
  readonly process: ChildProcess;
}

export interface StartedAgent {
  readonly process: ChildProcess;
  readonly log: () => string;
  /** Standard error of the agent so far. */
  readonly errors: () => string;
}

const programs = {
  coordinator: bundledProgram('coordinator'),
  admin: bundledProgram('coordinator', 'admin/main'),
  agent: bundledProgram('probe-agent'),
};
const record = ['--name', 'A', '--datacenter', 'B', '--country', 'DE', '--isp', 'C', '--asn', 'AS64496'];

const coordinatorEnv = {
  PORT: '0',
  TARGET_ALLOW: '127.0.0.0/8',
  LOG_LEVEL: 'warn',
  RATE_LIMIT_PROBES: '1000000',
  RATE_LIMIT_RESULTS: '1000000',
};

const agentEnv = {
  SCREENSHOTS: 'off',
  TARGET_ALLOW: '127.0.0.0/8',
  DNS_SERVERS: '127.0.0.1:9',
  REFUSED_RETRY_SECONDS: '1',
};

/** @param port of the public address, if the caller ends TLS there; without it a front is started */
export async function startGatewayService(port?: number): Promise<GatewayService> {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-gateway-e2e-'));
  const redis = await startRedisServer({ executable: findRedisServer(process.env['PATH'] ?? '')! });
  const certificate = await makeCertificate(folder);
  const { url, ...front } = port === undefined ? await startFront(certificate, '127.0.0.1') : noFront(port);
  const fronts: Pick<Front, 'close'>[] = [front];
  const children: ChildProcess[] = [];

  const start = (module: string, env: Readonly<Record<string, string>>): ChildProcess => {
    const child = forkService(module, env);
    children.push(child);
    return child;
  };
  const admin: GatewayService['admin'] = async (...args) => {
    const env = programEnv({ REDIS_URL: redis.url, PUBLIC_URL: url });
    return (await promisify(execFile)(process.execPath, [programs.admin, ...args], { env })).stdout;
  };
  return {
    url,
    port: front.port,
    ...certificate,
    folder,
    redis,
    admin,
    adminHere: (...args) => runHere(args, redis.url, url),
    ...askThrough(front.target),
    startCoordinator: async (env = {}) => {
      const child = start(programs.coordinator, { ...coordinatorEnv, PUBLIC_URL: url, REDIS_URL: redis.url, ...env });
      const [{ port }] = (await once(child, 'message')) as [{ readonly port: number }];
      return { port, process: child };
    },
    route: (to) => front.route(to.port),
    openAddress: async (host) => {
      const other = await startFront(certificate, host);
      fronts.push(other);
      return { url: other.url, route: (to) => other.route(to.port) };
    },
    invite: async (probe) => {
      const { token } = JSON.parse(await runHere(['invite', probe, ...record, '--json'], redis.url, url)) as Invitation;
      return token;
    },
    startAgent: (env) =>
      readOutput(start(programs.agent, { ...agentEnv, VANTAGE_URL: url, VANTAGE_CA_FILE: certificate.caFile, ...env })),
    stop: async () => {
      await Promise.all(children.map(end));
      for (const one of fronts) one.close();
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Invitation {
  readonly token: string;
}

async function runHere(args: readonly string[], redisUrl: string, publicUrl: string): Promise<string> {
  const lines: string[] = [];
  const streams = { out: (line: string) => lines.push(line), err: (line: string) => lines.push(line) };
  const status = await runProbeAdmin(args, readAdminConfig({ REDIS_URL: redisUrl, PUBLIC_URL: publicUrl }), streams);
  if (status !== 0) throw new Error(lines.join('\n'));
  return lines.join('\n');
}

function forkService(module: string, env: Readonly<Record<string, string>>): ChildProcess {
  const child = fork(module, [], {
    env: programEnv(env),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  // A full pipe would block the process.
  child.stdout!.resume();
  child.stderr!.resume();
  return child;
}

function readOutput(child: ChildProcess): StartedAgent {
  let [log, errors] = ['', ''];
  child.stdout!.on('data', (chunk: Buffer) => (log += chunk.toString()));
  child.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  return { process: child, log: () => log, errors: () => errors };
}

/** The API of the coordinator on a port, without TLS. */
function askThrough(port: () => number): Pick<GatewayService, 'probes' | 'startCheck' | 'read' | 'completed'> {
  const ask = async <T>(path: string, init: RequestInit = {}): Promise<T> =>
    (await (await fetchAccepted(`http://127.0.0.1:${port()}${path}`, init)).json()) as T;
  return {
    probes: () => ask<Probes>('/probes'),
    startCheck: async (body) => {
      const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
      const answer = await ask<{ readonly checkId?: string }>('/check', init);
      if (answer.checkId === undefined) throw new Error(JSON.stringify(answer));
      return answer.checkId;
    },
    read: (check) => ask<Check>(`/check/${check}/results`),
    completed: async (check) => {
      for (;;) {
        const read = await ask<Check>(`/check/${check}/results?wait=25`);
        if (read.status === 'completed') return read;
        await sleep(20);
      }
    },
  };
}

/** Kills a process and waits for its exit. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

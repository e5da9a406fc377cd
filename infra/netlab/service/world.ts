import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { findRedisServer, startRedisServer } from '@vantage/redis-server';
import { fetchAccepted } from '@vantage/test-support/programs/fetch-accepted';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';

import { runProbeAdmin } from '../../../apps/coordinator/src/admin/commands.ts';
import { readAdminConfig } from '../../../apps/coordinator/src/admin/config.ts';
import { inviteProbe, recordProbes, untilProbesAreUp } from '../../trial-probes.ts';
import { HUB } from './hub.ts';

/** Argument of the program in the namespace of the service, as JSON. */
export interface WorldPlan {
  readonly probes: readonly string[];
  readonly transport: 'redis' | 'gateway';
  readonly monitorsFile: string;
}

/** One line of the program's standard input, JSON; each is answered by one line of its standard output. */
export type WorldRequest =
  | { readonly method?: 'GET' | 'POST' | 'DELETE'; readonly path: string; readonly body?: object }
  /** Arguments of an operator’s command, such as `offer fra 203.0.113.5`. */
  | { readonly admin: readonly string[] };

const { probes, transport, monitorsFile } = JSON.parse(process.argv[2]!) as WorldPlan;
const URL_OF_SERVICE = `http://${HUB}:8080`;
const MANY = '100000000';

/** Runs Redis and a coordinator, and handles a request per line. Ends with its standard input. */
const store = await startRedisServer({
  executable: findRedisServer(programEnv()['PATH'] ?? '')!,
  port: 6379,
  arguments: ['--bind', '127.0.0.1', HUB, '--protected-mode', 'no'],
});
const tokens: Record<string, string> = {};
if (transport === 'redis') await recordProbes(store.url, probes);
else for (const probe of probes) tokens[probe] = await inviteProbe(store.url, probe, URL_OF_SERVICE);

const coordinator = spawn(process.execPath, [bundledProgram('coordinator')], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: programEnv({
    HOST: HUB,
    PORT: '8080',
    PUBLIC_URL: URL_OF_SERVICE,
    REDIS_URL: store.url,
    LOG_LEVEL: 'silent',
    MONITORS_FILE: monitorsFile,
    DNS_SERVERS: `${HUB}:53`,
    ...Object.fromEntries(
      ['CHECK', 'RESULTS', 'SUMMARY', 'MONITORS', 'PROBES', 'EVENTS', 'TARGET', 'CLIENT_TARGETS'].map((name) => [
        `RATE_LIMIT_${name}`,
        MANY,
      ]),
    ),
  }),
});
process.stdout.write(`${JSON.stringify({ tokens })}\n`);
await untilProbesAreUp(URL_OF_SERVICE, probes.length);

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as WorldRequest;
  const reply = 'admin' in request ? await administer(request.admin) : await ask(request);
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
coordinator.kill('SIGTERM');
await once(coordinator, 'exit');
await store.stop();
process.exit(0);

async function ask({
  method = 'GET',
  path,
  body,
}: Exclude<WorldRequest, { readonly admin: unknown }>): Promise<object> {
  const response = await fetchAccepted(`${URL_OF_SERVICE}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return { status: response.status, body: await response.json() };
}

async function administer(args: readonly string[]): Promise<object> {
  const lines: string[] = [];
  const streams = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
  const config = readAdminConfig({ REDIS_URL: store.url, PUBLIC_URL: URL_OF_SERVICE });
  return { status: await runProbeAdmin(args, config, streams), body: lines };
}

import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { createClient } from '@vantage/client';
import type { Probes } from '@vantage/contract';
import { findRedisServer } from '@vantage/redis-server';

import type { Arguments } from './arguments.ts';
import { takeDataFolder, type DataFolder } from './data-folder.ts';
import { writeDemoProbes } from './demo-probes.ts';
import { keepRedis, type KeptRedis } from './keep-redis.ts';
import { supervise, type Supervised } from './supervised.ts';

export interface Standalone {
  readonly url: string;
  /** The probes as `GET /probes` shows them once all have reported, or after a while. */
  readonly probes: Probes;
  readonly stop: () => Promise<void>;
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Shows a line of progress. */
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Longest time in which the coordinator and the probes report before we go on and say what is missing. */
const READY_WITHIN_MS = 30_000;

/**
 * Starts Redis, a coordinator and the probes, each a process of its own, and keeps them running.
 *
 * @throws Error with a sentence for the user when it cannot start
 */
export async function startStandalone(given: Arguments, surroundings: Surroundings): Promise<Standalone> {
  const { report } = surroundings;
  const data = await takeDataFolder(given.dataFolder);
  const stoppers: (() => Promise<void> | void)[] = [data.release];
  const stop = async (): Promise<void> => {
    for (const step of stoppers.splice(0).toReversed()) await step();
  };
  try {
    const port = given.port === 0 ? await freePort() : given.port;
    await assertFree(port);
    const url = `http://127.0.0.1:${port}`;

    const redis = await startRedis(surroundings, data);
    stoppers.push(redis.stop);
    const records = await writeDemoProbes(redis.url, given.probes);

    const processes: Supervised[] = [];
    stoppers.push(async () => {
      // Probes first: they finish what they run, and the coordinator still takes their results.
      await Promise.all(processes.slice(1).map((probe) => probe.stop()));
      await processes[0]?.stop();
    });
    const state = (): void =>
      data.write({
        pid: process.pid,
        url,
        redis: redis.running(),
        processes: Object.fromEntries(
          processes.flatMap(({ name, pid }) => (pid() === undefined ? [] : [[name, pid()!]])),
        ),
      });
    redis.onChange(state);
    const start = (name: string, module: URL, env: Readonly<Record<string, string>>): void => {
      const program = { name, module, logFile: data.logFile(name), env: { ...inherited(surroundings.env), ...env } };
      processes.push(supervise(program, { onChange: state, report, graceMs: 15_000 }));
    };

    start('coordinator', entry('coordinator'), coordinatorEnv(given, port, url, redis.url));
    for (const { id } of records) start(id, entry('probe-agent'), probeEnv(given, id, redis.url));
    const probes = await untilReady(url, given, surroundings);
    return { url, probes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startRedis({ env, report }: Surroundings, data: DataFolder): Promise<KeptRedis> {
  const own = env['REDIS_URL'];
  if (own !== undefined && own !== '') {
    report('Using the Redis of REDIS_URL');
    return { url: own, running: () => null, onChange: () => undefined, stop: async () => undefined };
  }
  const executable = findRedisServer(env['PATH'] ?? '');
  if (executable === undefined) {
    throw new Error(
      'There is no Redis on this machine. Install redis-server or valkey-server (Debian: apt-get install redis-tools ' +
        'is enough), or set REDIS_URL to a Redis of yours.',
    );
  }
  const redis = await keepRedis(executable, data.redisFolder, report);
  report(`Redis runs on port ${redis.running()?.port}`);
  return redis;
}

function coordinatorEnv(given: Arguments, port: number, url: string, redisUrl: string): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    REDIS_URL: redisUrl,
    TARGET_ALLOW: given.allow.join(','),
    ...(given.rateLimit === undefined ? {} : rateLimits(given.rateLimit)),
  };
}

function rateLimits(perMinute: number): Record<string, string> {
  const names = ['RATE_LIMIT_CHECK', 'RATE_LIMIT_RESULTS', 'RATE_LIMIT_PROBES', 'RATE_LIMIT_ME'];
  return Object.fromEntries(names.map((name) => [name, String(perMinute)]));
}

function probeEnv(given: Arguments, id: string, redisUrl: string): Record<string, string> {
  return { PROBE_ID: id, REDIS_URL: redisUrl, TARGET_ALLOW: given.allow.join(',') };
}

/** The programs run beside this one: sources beside sources, built files beside built files. */
function entry(app: 'coordinator' | 'probe-agent'): URL {
  const [folder, extension] = import.meta.url.endsWith('.ts') ? ['src', 'ts'] : ['dist', 'js'];
  return new URL(`../../${app}/${folder}/main.${extension}`, import.meta.url);
}

function inherited(env: Surroundings['env']): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/**
 * Waits until every probe has reported. What has not by then is shown as it is: without root the probes are degraded,
 * and the rest works.
 */
async function untilReady(url: string, given: Arguments, { report, signal }: Surroundings): Promise<Probes> {
  const client = createClient({ baseUrl: url });
  const until = performance.now() + READY_WITHIN_MS;
  const answers = async (): Promise<boolean> =>
    (await fetch(`${url}/healthz`, { signal }).catch(() => undefined))?.ok === true;
  while (!(await answers())) {
    if (performance.now() > until) throw new Error(`The coordinator did not start. Logs: ${given.dataFolder}/logs`);
    await sleep(100, undefined, { signal });
  }
  report(`The coordinator listens on ${url}`);
  for (;;) {
    // Redis may still be connecting: a problem document then, and another look.
    const probes = await client.probes({ signal }).catch(() => undefined);
    const up = Object.values(probes ?? {}).filter(({ status }) => status !== 'offline');
    if (probes !== undefined && (up.length >= given.probes || performance.now() > until)) return probes;
    if (performance.now() > until) throw new Error(`The service did not get ready. Logs: ${given.dataFolder}/logs`);
    // Not often: these requests count on the limit of whoever asks from this machine.
    await sleep(1_500, undefined, { signal });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('There is no free port.');
  return address.port;
}

async function assertFree(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    const reason =
      Error.isError(error) && 'code' in error && error.code === 'EADDRINUSE' ? 'is in use' : 'cannot be used';
    throw new Error(`Port ${port} ${reason}. Choose another with --port.`, { cause: error });
  }
  server.close();
  await once(server, 'close');
}

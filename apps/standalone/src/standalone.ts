import { once } from 'node:events';
import { createServer } from 'node:net';

import type { ProbeRecord, Probes } from '@vantage/contract';
import { grantAgents } from '@vantage/coordinator';
import { findRedisServer, freePort } from '@vantage/redis-server';

import type { Arguments } from './arguments.ts';
import { boundLogs } from './bounded-logs.ts';
import { takeDataFolder, type DataFolder } from './data-folder.ts';
import { writeDemoProbes } from './demo-probes.ts';
import { keepRedis, type KeptRedis } from './keep-redis.ts';
import { killGroup } from './kill-group.ts';
import { startReaper } from './reaper.ts';
import { supervise, type Supervised } from './supervised.ts';
import { untilReady } from './until-ready.ts';
import { refuseFullDisk, watchDisk } from './watch-disk.ts';

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

/** Longest time that a process may take to end after SIGTERM: agents drain for ten seconds. */
const GRACE_MS = 15_000;

/**
 * Starts Redis, a coordinator and the probes, each a process of its own, and keeps them running.
 *
 * @throws Error with a sentence for the user when it cannot start
 */
export async function startStandalone(given: Arguments, surroundings: Surroundings): Promise<Standalone> {
  const { report, signal } = surroundings;
  const data = await takeDataFolder(given.dataFolder);
  const stoppers: (() => Promise<void> | void)[] = [data.release, boundLogs(data.logFolder)];
  const stop = async (): Promise<void> => {
    for (const step of stoppers.splice(0).toReversed()) await step();
  };
  try {
    await refuseFullDisk(data.folder);
    const port = await claimPort(given.port);
    const url = `http://127.0.0.1:${port}`;

    const reaper = startReaper();
    stoppers.push(reaper.stop);
    const redis = await startRedis(surroundings, data);
    stoppers.push(redis.stop, watchDisk(data.folder, { report, onRoom: redis.rewriteFile }));
    const processes: Supervised[] = [];
    const running = (): number[] => processes.flatMap(({ pid }) => pid() ?? []);
    const killAll = (): void =>
      [...running(), ...(redis.running() === null ? [] : [redis.running()!.pid])].forEach(killGroup);
    // For every end but the orderly one, after which nothing runs, and SIGKILL, after which the reaper does it.
    process.once('exit', killAll);
    const state = (): void => {
      reaper.tell({ programs: running(), redis: redis.running()?.pid ?? null, graceMs: GRACE_MS });
      data.write({
        pid: process.pid,
        url,
        redis: redis.running(),
        processes: Object.fromEntries(
          processes.flatMap(({ name, pid }) => (pid() === undefined ? [] : [[name, pid()!]])),
        ),
      });
    };
    redis.onChange(state);
    // At once: should we be killed, the next start has to find it.
    state();
    const records = await writeRecords(redis, given.probes);
    const urls = await agentUrls(redis, records);

    stoppers.push(async () => {
      // Probes first: they finish what they run, and the coordinator still takes their results.
      await Promise.all(processes.slice(1).map((probe) => probe.stop()));
      await processes[0]?.stop();
    });
    const start = (name: string, module: URL, env: Readonly<Record<string, string>>): void => {
      const program = { name, module, logFile: data.logFile(name), env: { ...inherited(surroundings.env), ...env } };
      processes.push(supervise(program, { onChange: state, report, graceMs: GRACE_MS }));
      state();
    };

    start('coordinator', entry('coordinator'), coordinatorEnv(given, surroundings.env, port, url, redis.url));
    for (const { id } of records)
      start(id, entry('probe-agent'), probeEnv(given, surroundings.env, id, urls[id] ?? redis.url));
    const { logFolder } = data;
    const probes = await untilReady({ url, probes: given.probes, processes, logFolder, report, signal });
    return { url, probes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startRedis({ env, report }: Surroundings, data: DataFolder): Promise<KeptRedis> {
  const own = env['REDIS_URL'];
  if (own !== undefined && own !== '') {
    if (!/^rediss?(\+sentinel|\+cluster)?:\/\//.test(own)) {
      throw new Error('REDIS_URL must begin with redis:// or rediss://, or the same with +sentinel or +cluster.');
    }
    report('Using the Redis of REDIS_URL');
    const nothing = (): void => undefined;
    return { url: own, running: () => null, onChange: nothing, rewriteFile: nothing, stop: async () => undefined };
  }
  const executable = findRedisServer(env['PATH'] ?? '');
  if (executable === undefined) {
    throw new Error(
      'There is no Redis on this machine. Install redis-server or valkey-server (Debian: apt-get install redis-tools ' +
        'is enough), or set REDIS_URL to a Redis of yours.',
    );
  }
  const redis = await keepRedis({ executable, dataFolder: data.redisFolder, logFile: data.logFile('redis'), report });
  report(`Redis runs on port ${redis.running()?.port}`);
  return redis;
}

async function writeRecords(redis: KeptRedis, count: number): Promise<readonly ProbeRecord[]> {
  try {
    return await writeDemoProbes(redis.url, count);
  } catch (error) {
    // Without the URL: it may hold a password.
    const whose = redis.running() === null ? 'The Redis of REDIS_URL' : 'Redis';
    throw new Error(`${whose} cannot be used: ${Error.isError(error) ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** A user each where Redis is ours. In a Redis of the operator’s own, users are the operator’s to make. */
async function agentUrls(redis: KeptRedis, records: readonly ProbeRecord[]): Promise<Readonly<Record<string, string>>> {
  if (redis.running() === null) return {};
  return grantAgents(
    redis.url,
    records.map(({ id }) => id),
  );
}

type Env = Surroundings['env'];

/** Every other setting of the coordinator and the agents comes from the environment as it is. */
function coordinatorEnv(
  given: Arguments,
  env: Env,
  port: number,
  url: string,
  redisUrl: string,
): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    PORT: String(port),
    // The operator's own, where a proxy stands in front.
    PUBLIC_URL: env['PUBLIC_URL'] ?? url,
    REDIS_URL: redisUrl,
    TARGET_ALLOW: allowed(given, env),
    ...(given.rateLimit === undefined ? {} : rateLimits(given.rateLimit)),
  };
}

function allowed(given: Arguments, env: Env): string {
  return [env['TARGET_ALLOW'] ?? '', ...given.allow].filter((part) => part !== '').join(',');
}

function rateLimits(perMinute: number): Record<string, string> {
  const names = ['CHECK', 'RESULTS', 'EVENTS', 'SCREENSHOT', 'SUMMARY', 'PROBES', 'ME'].map(
    (name) => `RATE_LIMIT_${name}`,
  );
  return Object.fromEntries(names.map((name) => [name, String(perMinute)]));
}

function probeEnv(given: Arguments, env: Env, id: string, redisUrl: string): Record<string, string> {
  return { PROBE_ID: id, REDIS_URL: redisUrl, TARGET_ALLOW: allowed(given, env) };
}

/** The programs run beside this one: sources beside sources, built files beside built files. */
function entry(app: 'coordinator' | 'probe-agent'): URL {
  const [folder, extension] = import.meta.url.endsWith('.ts') ? ['src', 'ts'] : ['dist', 'js'];
  return new URL(`../../${app}/${folder}/main.${extension}`, import.meta.url);
}

function inherited(env: Env): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/**
 * @param wanted 0: any free one
 * @returns a port that was free a moment ago
 * @throws Error with a sentence for the user
 */
async function claimPort(wanted: number): Promise<number> {
  if (wanted === 0) return freePort();
  const server = createServer().listen(wanted, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    const reason =
      Error.isError(error) && 'code' in error && error.code === 'EADDRINUSE' ? 'is in use' : 'cannot be used';
    throw new Error(`Port ${wanted} ${reason}. Choose another with --port.`, { cause: error });
  }
  server.close();
  await once(server, 'close');
  return wanted;
}

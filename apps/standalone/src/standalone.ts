import { once } from 'node:events';
import { createServer } from 'node:net';

import type { ProbeRecord, Probes } from '@vantage/contract';
import { grantAgents } from '@vantage/coordinator';
import { findRedisServer, freePort } from '@vantage/redis-server';

import type { Arguments } from './arguments.ts';
import { rotateLogs } from './bounded-logs.ts';
import { claimDataFolder, type DataFolder } from './data-folder.ts';
import { writeDemoProbes } from './demo-probes.ts';
import { superviseRedis, type SupervisedRedis } from './supervise-redis.ts';
import { keepRegistrations } from './keep-registrations.ts';
import { killGroup } from './kill-group.ts';
import { coordinatorEnv, probeEnv } from './program-settings.ts';
import { nodeFlags } from './node-flags.ts';
import { startReaper } from './reaper.ts';
import { supervise, type Supervised } from './supervised.ts';
import { waitUntilReady } from './until-ready.ts';
import { refuseFullDisk, watchDisk } from './watch-disk.ts';

export interface Standalone {
  readonly url: string;
  /** `GET /probes` after all probes have reported, or after a timeout. */
  readonly probes: Probes;
  readonly stop: () => Promise<void>;
}

export interface StandaloneOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prints a line of progress. */
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Grace period after SIGTERM; agents drain for ten seconds. */
const GRACE_MS = 15_000;

/**
 * Starts and supervises Redis, a coordinator and the probes, each as a separate process.
 *
 * @throws Error with a sentence for the user if startup fails
 */
export async function startStandalone(args: Arguments, options: StandaloneOptions): Promise<Standalone> {
  const { report, signal } = options;
  const data = await claimDataFolder(args.dataFolder);
  const stoppers: (() => Promise<void> | void)[] = [data.release, rotateLogs(data.logFolder)];
  const stop = async (): Promise<void> => {
    for (const step of stoppers.splice(0).toReversed()) await step();
  };
  try {
    await refuseFullDisk(data.folder);
    const port = await claimPort(args.port);
    const url = `http://127.0.0.1:${port}`;

    const reaper = startReaper();
    stoppers.push(reaper.stop);
    const redis = await startRedis(options, data);
    stoppers.push(redis.stop, watchDisk(data.folder, { report, onSpaceAvailable: redis.rewriteFile }));
    const processes: Supervised[] = [];
    const running = (): number[] => processes.flatMap(({ pid }) => pid() ?? []);
    const killAll = (): void =>
      [...running(), ...(redis.running() === null ? [] : [redis.running()!.pid])].forEach(killGroup);
    // Covers all exits except an orderly stop, after which nothing runs, and SIGKILL, which the reaper covers.
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
    // Written immediately: if this process is killed, the next start needs it.
    state();
    const records = await writeRecords(redis, args.probes);
    stoppers.push(keepRegistrations(redis.url, records, report));
    const urls = await agentUrls(redis, records);

    stoppers.push(async () => {
      // Probes first: they finish their jobs, and the coordinator still receives the results.
      await Promise.all(processes.slice(1).map((probe) => probe.stop()));
      await processes[0]?.stop();
    });
    const start = (name: string, app: App, env: Readonly<Record<string, string>>): void => {
      const flags = [...nodeFlags[app], ...process.execArgv];
      const program = {
        name,
        module: entry(app),
        logFile: data.logFile(name),
        env: { ...inherited(options.env), ...env },
        execArgv: args.watch ? ['--watch', '--watch-preserve-output', ...flags] : flags,
      };
      processes.push(supervise(program, { onChange: state, report, graceMs: GRACE_MS }));
      state();
    };

    start('coordinator', 'coordinator', coordinatorEnv(args, options.env, port, url, redis.url));
    for (const [index, { id }] of records.entries()) {
      start(id, 'probe-agent', probeEnv(args, options.env, { id, index, redisUrl: urls[id] ?? redis.url }));
    }
    const { logFolder } = data;
    const probes = await waitUntilReady({ url, probes: args.probes, processes, logFolder, report, signal });
    return { url, probes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startRedis({ env, report }: StandaloneOptions, data: DataFolder): Promise<SupervisedRedis> {
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
        'is enough), or set REDIS_URL to your Redis.',
    );
  }
  const redis = await superviseRedis({
    executable,
    dataFolder: data.redisFolder,
    logFile: data.logFile('redis'),
    report,
  });
  report(`Redis runs on port ${redis.running()?.port}`);
  return redis;
}

async function writeRecords(redis: SupervisedRedis, count: number): Promise<readonly ProbeRecord[]> {
  try {
    return await writeDemoProbes(redis.url, count);
  } catch (error) {
    // Omits the URL, which may contain a password.
    const whose = redis.running() === null ? 'The Redis of REDIS_URL' : 'Redis';
    throw new Error(`${whose} cannot be used: ${Error.isError(error) ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** Creates a user per agent in the service's own Redis and returns the URLs. In an external Redis the operator creates users. */
async function agentUrls(
  redis: SupervisedRedis,
  records: readonly ProbeRecord[],
): Promise<Readonly<Record<string, string>>> {
  if (redis.running() === null) return {};
  return grantAgents(
    redis.url,
    records.map(({ id }) => id),
  );
}

type App = keyof typeof nodeFlags;

/** Programs are started in the same form as this one: sources or built files. */
function entry(app: App): URL {
  const [folder, extension] = import.meta.url.endsWith('.ts') ? ['src', 'ts'] : ['dist', 'js'];
  return new URL(`../../${app}/${folder}/main.${extension}`, import.meta.url);
}

function inherited(env: StandaloneOptions['env']): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/**
 * @param wanted 0: any free port
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

import { once } from 'node:events';
import { createServer } from 'node:net';

import type { ProbeRecord, Probes } from '@vantage/contract';
import { grantAgents } from '@vantage/coordinator';
import { findRedisServer, freePort } from '@vantage/redis-server';

import type { Arguments } from './arguments.ts';
import { rotateLogs } from './bounded-logs.ts';
import { claimDataFolder, type DataFolder } from './data-folder.ts';
import { writeDemoProbes } from './demo-probes.ts';
import { superviseRedis, type SupervisedRedis, type SuperviseRedisOptions } from './supervise-redis.ts';
import { keepRegistrations } from './keep-registrations.ts';
import { coordinatorEnv, probeEnv } from './program-settings.ts';
import { Programs } from './programs.ts';
import { startReaper } from './reaper.ts';
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
    const programs = new Programs({ data, reaper, url, env: options.env, watch: args.watch, report });
    const redis = await startRedis(options, data, programs.setRedis);
    stoppers.push(redis.stop, watchDisk(data.folder, { report, onSpaceAvailable: redis.rewriteFile }));
    const records = await writeRecords(redis, args.probes);
    stoppers.push(keepRegistrations(redis.url, records, report));
    const urls = await agentUrls(redis, records);

    stoppers.push(programs.stop);
    programs.start('coordinator', 'coordinator', coordinatorEnv(args, options.env, port, url, redis.url));
    for (const [index, { id }] of records.entries()) {
      programs.start(id, 'probe-agent', probeEnv(args, options.env, { id, index, redisUrl: urls[id] ?? redis.url }));
    }
    const { logFolder } = data;
    const probes = await waitUntilReady({
      url,
      probes: args.probes,
      processes: programs.all,
      logFolder,
      report,
      signal,
    });
    return { url, probes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startRedis(
  { env, report, signal }: StandaloneOptions,
  data: DataFolder,
  onChange: SuperviseRedisOptions['onChange'],
): Promise<SupervisedRedis> {
  const own = env['REDIS_URL'];
  if (own !== undefined && own !== '') {
    if (!/^rediss?(\+sentinel|\+cluster)?:\/\//.test(own)) {
      throw new Error('REDIS_URL must begin with redis:// or rediss://, or the same with +sentinel or +cluster.');
    }
    report('Using the Redis of REDIS_URL');
    const nothing = (): void => undefined;
    return { url: own, running: () => null, rewriteFile: nothing, stop: async () => undefined };
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
    onChange,
    signal,
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

/**
 * Creates a user per agent in the service's own Redis and returns the URLs. In an external Redis the operator creates
 * users.
 */
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

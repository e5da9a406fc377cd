import { connect } from 'node:net';

import { startRedisServer, type RedisServer, type RedisServerOptions } from '@vantage/redis-server';
import { pause } from '@vantage/timers';

import { openRedisLogin } from './redis-login.ts';

/** A process of Redis, which may still load its data. */
export type RedisProcess = Pick<RedisServer, 'pid' | 'port'>;

/** A Redis that is restarted after a crash. */
export interface SupervisedRedis {
  /** Includes the password. */
  readonly url: string;
  /** Null while Redis is down, or if the operator runs it. */
  readonly running: () => RedisProcess | null;
  /** Asks Redis to rewrite its append-only file, which may have a corrupt record after a full disk. */
  readonly rewriteFile: () => void;
  readonly stop: () => Promise<void>;
}

export interface SuperviseRedisOptions {
  readonly executable: string;
  readonly dataFolder: string;
  readonly logFile: string;
  readonly report: (line: string) => void;
  /** Called with each new process before it loads its data, and with null when it has ended. */
  readonly onChange: (redis: RedisProcess | null) => void;
  /** Ends the first start. */
  readonly signal: AbortSignal;
}

/** Bounds of memory, requests and logs from infra/redis/redis.conf, which has their reasons. */
const BOUNDS = [
  '--maxmemory',
  '1gb',
  '--maxmemory-clients',
  '256mb',
  '--proto-max-bulk-len',
  '5mb',
  '--client-query-buffer-limit',
  '8mb',
  '--acllog-max-len',
  '8',
  '--slowlog-log-slower-than',
  '2000',
  '--slowlog-max-len',
  '1024',
  '--client-output-buffer-limit',
  'normal 64mb 32mb 10',
  '--client-output-buffer-limit',
  'pubsub 128mb 64mb 30',
];

/** @throws Error if Redis does not start the first time */
export async function superviseRedis(options: SuperviseRedisOptions): Promise<SupervisedRedis> {
  const { executable, dataFolder, logFile, report, onChange } = options;
  const { password, aclFile } = openRedisLogin(dataFolder);
  const where = { executable, dataFolder, logFile, password, arguments: ['--aclfile', aclFile, ...BOUNDS] };
  const start = async (attempt: Pick<RedisServerOptions, 'port' | 'signal'>): Promise<RedisServer> => {
    try {
      return await startRedisServer({ ...where, ...attempt, detached: true, onSpawn: onChange });
    } catch (error) {
      onChange(null);
      throw error;
    }
  };
  const stopping = new AbortController();
  let server: RedisServer | undefined = await start({ signal: options.signal });
  const { port } = server;

  const keep = async (): Promise<void> => {
    for (;;) {
      await server?.ended;
      server = undefined;
      onChange(null);
      if (stopping.signal.aborted) return;
      report('Redis exited; restarting it.');
      server = await start({ port, signal: stopping.signal }).catch((error: unknown) => {
        if (!stopping.signal.aborted) report(Error.isError(error) ? error.message : String(error));
        return undefined;
      });
      // If `stop` was called during the restart, it had no server to stop.
      if (stopping.signal.aborted) await server?.stop();
      else if (server === undefined) await pause(1_000, stopping.signal);
    }
  };
  const kept = keep();

  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    running: () => (server === undefined ? null : { pid: server.pid, port }),
    rewriteFile: () => sendCommands(port, [`AUTH ${password}`, 'BGREWRITEAOF', 'QUIT']),
    stop: async () => {
      stopping.abort();
      await server?.stop();
      await kept;
    },
  };
}

/** Sends inline commands without awaiting replies. */
function sendCommands(port: number, commands: readonly string[]): void {
  const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(`${commands.join('\r\n')}\r\n`));
  // Errors are ignored: a crashed Redis is restarted, and reads its file then.
  socket.on('error', () => undefined);
  socket.resume();
}

import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { startRedisServer, type RedisServer } from '@vantage/redis-server';

import { takeRedisLogin } from './redis-login.ts';

/** A Redis that is started again when it dies. */
export interface KeptRedis {
  /** With the password. */
  readonly url: string;
  /** Null while it is down, or where it is not ours. */
  readonly running: () => { readonly pid: number; readonly port: number } | null;
  readonly onChange: (listener: () => void) => void;
  /** Has it write its append-only file anew, after a disk that was full: a record in the middle may be broken. */
  readonly rewriteFile: () => void;
  readonly stop: () => Promise<void>;
}

export interface KeepRedisOptions {
  readonly executable: string;
  readonly dataFolder: string;
  readonly logFile: string;
  readonly report: (line: string) => void;
}

/** Little more than a screenshot: what an agent sends in one piece holds up all others. */
const LARGEST_VALUE = '5mb';

/** @throws Error when Redis does not start the first time */
export async function keepRedis({ report, ...options }: KeepRedisOptions): Promise<KeptRedis> {
  const { password, aclFile } = takeRedisLogin(options.dataFolder);
  const where = { ...options, arguments: ['--aclfile', aclFile, '--proto-max-bulk-len', LARGEST_VALUE] };
  const stopping = new AbortController();
  let listener = (): void => undefined;
  let server: RedisServer | undefined = await startRedisServer({ ...where, detached: true });
  const { port } = server;

  const keep = async (): Promise<void> => {
    for (;;) {
      await server?.ended;
      server = undefined;
      if (stopping.signal.aborted) return;
      listener();
      report('Redis ended; starting it again on its data.');
      server = await startRedisServer({ ...where, port, detached: true }).catch((error: unknown) => {
        report(Error.isError(error) ? error.message : String(error));
        return undefined;
      });
      listener();
      // Told to stop while it started: nobody else has it to stop.
      if (stopping.signal.aborted) return server?.stop();
      if (server === undefined) await sleep(1_000, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const kept = keep();

  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    running: () => (server === undefined ? null : { pid: server.pid, port }),
    onChange: (changed) => {
      listener = changed;
    },
    rewriteFile: () => sendCommands(port, [`AUTH ${password}`, 'BGREWRITEAOF', 'QUIT']),
    stop: async () => {
      stopping.abort();
      await server?.stop();
      await kept;
    },
  };
}

/** In the inline form of the protocol. Replies are not awaited. */
function sendCommands(port: number, commands: readonly string[]): void {
  const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(`${commands.join('\r\n')}\r\n`));
  // A Redis that is gone is started again, and reads its file then.
  socket.on('error', () => undefined);
  socket.resume();
}

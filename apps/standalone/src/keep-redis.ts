import { setTimeout as sleep } from 'node:timers/promises';

import { startRedisServer, type RedisServer } from '@vantage/redis-server';

/** A Redis that is started again when it dies. */
export interface KeptRedis {
  readonly url: string;
  /** Null while it is down, or where it is not ours. */
  readonly running: () => { readonly pid: number; readonly port: number } | null;
  readonly onChange: (listener: () => void) => void;
  readonly stop: () => Promise<void>;
}

/** @throws Error when Redis does not start the first time */
export async function keepRedis(
  executable: string,
  dataFolder: string,
  report: (line: string) => void,
): Promise<KeptRedis> {
  const stopping = new AbortController();
  let listener = (): void => undefined;
  let server: RedisServer | undefined = await startRedisServer({ executable, dataFolder, detached: true });
  const { port, url } = server;

  const keep = async (): Promise<void> => {
    for (;;) {
      await server?.ended;
      if (stopping.signal.aborted) return;
      server = undefined;
      listener();
      report('Redis ended; starting it again on its data.');
      server = await startRedisServer({ executable, dataFolder, port, detached: true }).catch(() => undefined);
      listener();
      if (server === undefined) await sleep(1_000, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const kept = keep();

  return {
    url,
    running: () => (server === undefined ? null : { pid: server.pid, port }),
    onChange: (changed) => {
      listener = changed;
    },
    stop: async () => {
      stopping.abort();
      await server?.stop();
      await kept;
    },
  };
}

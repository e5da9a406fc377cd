import { Redis } from 'ioredis';

/** Reads numeric fields of INFO, such as `used_memory` and `total_commands_processed`. */
export async function redisInfo(port: number): Promise<(name: string) => number> {
  const info = await readInfo(port);
  return (name) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
}

/** Calls of each command since the start of Redis, including those of scripts. */
export async function commandsByName(port: number): Promise<ReadonlyMap<string, number>> {
  const info = await readInfo(port, 'commandstats');
  return new Map([...info.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)].map(([, name, calls]) => [name!, Number(calls)]));
}

/** Calls of each command since the start of Redis and the time spent in them, including those of scripts. */
export async function timeByCommand(
  port: number,
): Promise<ReadonlyMap<string, { readonly calls: number; readonly us: number }>> {
  const info = await readInfo(port, 'commandstats');
  return new Map(
    [...info.matchAll(/^cmdstat_(\S+?):calls=(\d+),usec=(\d+)/gm)].map(([, name, calls, us]) => [
      name!,
      { calls: Number(calls), us: Number(us) },
    ]),
  );
}

async function readInfo(port: number, section?: string): Promise<string> {
  const redis = new Redis({ port, host: '127.0.0.1' });
  const info = section === undefined ? await redis.info() : await redis.info(section);
  redis.disconnect();
  return info;
}

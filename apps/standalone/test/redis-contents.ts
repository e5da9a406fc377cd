import { CHECK_ID_PATTERN } from '@vantage/contract';
import type { Redis } from 'ioredis';

const CHECK_ID = new RegExp(CHECK_ID_PATTERN, 'g');

/** Names of all keys that match. */
export async function listKeys(redis: Redis, pattern = '*'): Promise<readonly string[]> {
  const found = new Set<string>();
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', 1_000);
    for (const key of keys) found.add(key);
    cursor = next;
  } while (cursor !== '0');
  return [...found].toSorted();
}

/** All contents of Redis, one text per key. */
export async function readAll(redis: Redis): Promise<Readonly<Record<string, string>>> {
  const keys = await listKeys(redis);
  return Object.fromEntries(await Promise.all(keys.map(async (key) => [key, await readKey(redis, key)] as const)));
}

async function readKey(redis: Redis, key: string): Promise<string> {
  const type = await redis.type(key);
  const commands: Readonly<Record<string, readonly string[]>> = {
    string: ['GET', key],
    hash: ['HGETALL', key],
    list: ['LRANGE', key, '0', '-1'],
    set: ['SMEMBERS', key],
    zset: ['ZRANGE', key, '0', '-1'],
    stream: ['XRANGE', key, '-', '+'],
  };
  const [command, ...rest] = commands[type] ?? ['GET', key];
  const value = type === 'none' ? '' : await redis.call(command!, ...rest);
  return Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY).join('\n') : String(value);
}

/** Watches every command, those of scripts included. */
export async function watchWrites(redis: Redis): Promise<{
  /**
   * Families of keys (`keyFamily`), by each word that `foundIn` returns for a command; of a command, only the first key
   * counts.
   */
  readonly families: (foundIn: (text: string) => readonly string[]) => Readonly<Record<string, readonly string[]>>;
  readonly stop: () => void;
}> {
  const commands: (readonly string[])[] = [];
  const monitor = await redis.monitor();
  monitor.on('monitor', (_time: string, args: readonly string[]) => commands.push(args));
  return {
    families: (foundIn) => {
      const families = new Map<string, Set<string>>();
      for (const [command = '', key = '', ...values] of commands) {
        // The commands of a script are reported one by one, so its call is left out.
        if (/^(eval|evalsha|fcall)$/i.test(command)) continue;
        for (const found of foundIn([key, ...values].join('\n'))) {
          families.set(found, (families.get(found) ?? new Set()).add(keyFamily(key)));
        }
      }
      return Object.fromEntries([...families].map(([found, keys]) => [found, [...keys].toSorted()]));
    },
    stop: () => monitor.disconnect(),
  };
}

/** A key without the ids in it. */
function keyFamily(key: string): string {
  return key.replaceAll(/\{demo-\d\}/g, '{probe}').replaceAll(CHECK_ID, '<id>');
}

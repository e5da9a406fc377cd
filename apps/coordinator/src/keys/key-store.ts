import { randomBytes } from 'node:crypto';

import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { readHash } from '../redis/read-hash.ts';
import { defineScript, runScript } from '../redis/scripts.ts';
import { createKeyReader, type ApiKey } from './api-key.ts';

/** Access to the records of all keys for operator commands. */
export interface KeyStore {
  /** Valid records, ordered by name. */
  readonly list: () => Promise<readonly ApiKey[]>;
  /**
   * Writes or replaces a record.
   *
   * @param change gets the record, if there is one; returns the new one, or undefined to change nothing. Called again
   *   after a concurrent change
   * @throws what `change` throws; Error for an invalid record, or if concurrent changes won every time
   */
  readonly change: (
    name: string,
    change: (known: ApiKey | undefined) => ApiKey | undefined,
  ) => Promise<ApiKey | undefined>;
  /** @returns false if there was no record */
  readonly remove: (name: string) => Promise<boolean>;
}

/**
 * Replaces a record that is unchanged since it was read. KEYS records, revision. ARGV name, expected record or '', new
 * record, new revision. Returns 1 if the record was as expected.
 */
const replaceScript = defineScript(
  'allow-oom',
  `
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('SET', KEYS[2], ARGV[4])
return 1
`,
);

/** Removes a record. KEYS records, revision. ARGV name, new revision. Returns 1 if there was a record. */
const removeScript = defineScript(
  'allow-oom',
  `
redis.call('SET', KEYS[2], ARGV[2])
return redis.call('HDEL', KEYS[1], ARGV[1])
`,
);

const hash = [redisKeys.apiKeys, redisKeys.apiKeysRevision] as const;
const MOST_TRIES = 5;

export function createKeyStore(redis: Redis): KeyStore {
  const readKey = createKeyReader();
  return {
    list: async () => {
      const records = Object.values(await readHash(redis, redisKeys.apiKeys)).map(readKey);
      return records.filter((key) => key !== undefined).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },
    change: async (name, change) => {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const known = (await redis.hget(redisKeys.apiKeys, name)) ?? '';
        const key = readKey(known);
        if (known !== '' && key === undefined) {
          throw new Error(`the record of the key ${name} is not valid: remove it with key:remove ${name}`);
        }
        const next = change(key);
        if (next === undefined) return undefined;
        const values = [name, known, JSON.stringify(next), newRevision()];
        if ((await runScript(redis, replaceScript, hash, values)) === 1) return next;
      }
      throw new Error(`the key ${name} was changed by another command at the same time`);
    },
    remove: async (name) => (await runScript(redis, removeScript, hash, [name, newRevision()])) === 1,
  };
}

/**
 * A random revision, because a counter could repeat a value after a failover to a replica that lacked the last writes.
 */
function newRevision(): string {
  return randomBytes(12).toString('base64url');
}

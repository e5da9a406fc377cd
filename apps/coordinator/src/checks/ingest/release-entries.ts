import { MAX_RESULT_BYTES, redisKeys } from '@vantage/contract';
import { isCluster } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { defineScript, runScript } from '../../redis/scripts.ts';
import { onStore } from '../../redis/store.ts';
import { FUTURE_MS } from './stream-scripts.ts';

/** Probes with the checks whose results were committed inline. */
export type Committed = ReadonlyMap<string, readonly string[]>;

/** Maximum streams per script, because a script blocks Redis. */
const STREAMS_AT_ONCE = 50;
/** Maximum committed results of a stream per script; a stream with more must be read. */
const ENTRIES_AT_ONCE = 64;

/**
 * Deletes the entries of committed results at the start of each stream. Reads one entry at a time and stops at the
 * first that is no committed result, because it may be of any size; it stays until the stream is read.
 *
 * KEYS result streams. ARGV for each stream the number of its checks, then the checks. Returns for each stream 1 if it
 * must be read: another entry was found, the key is no stream, or the id of a deleted entry is far in the future.
 */
export const releaseScript = defineScript(
  'allow-oom',
  `
local now = redis.call('TIME')[1] * 1000
local function isResult(fields, checks)
  return fields[1] == 'check' and checks[fields[2]] and fields[3] == 'kind' and fields[4] == 'final'
    and fields[5] == 'data' and #fields[6] <= ${MAX_RESULT_BYTES}
    and (#fields == 6 or (#fields == 8 and fields[7] == 'traceparent' and #fields[8] < 100))
end
local function release(key, checks)
  local from, ids, mustRead = '-', {}, 0
  while next(checks) do
    local entries = redis.pcall('XRANGE', key, from, '+', 'COUNT', 1)
    if entries.err then return 1 end
    local entry = entries[1]
    if not entry then break end
    if not isResult(entry[2], checks) then
      mustRead = 1
      break
    end
    checks[entry[2][2]] = nil
    ids[#ids + 1] = entry[1]
    from = '(' .. entry[1]
    if tonumber(string.match(entry[1], '^%d+')) > now + ${FUTURE_MS} then mustRead = 1 end
  end
  if #ids > 0 then redis.call('XDEL', key, unpack(ids)) end
  return mustRead
end
local at, said = 1, {}
for i, key in ipairs(KEYS) do
  local checks = {}
  for j = at + 1, at + tonumber(ARGV[at]) do checks[ARGV[j]] = true end
  at = at + tonumber(ARGV[at]) + 1
  said[i] = release(key, checks)
end
return said
`,
);

/**
 * Deletes the stream entries of inline results unread, up to the first other entry of each stream: the results are in
 * their checks already. A stream with more than `ENTRIES_AT_ONCE` such entries is left as it is.
 *
 * @returns the probes whose streams must be read
 */
export async function releaseEntries(redis: Redis, committed: Committed): Promise<ReadonlySet<string>> {
  const all = [...committed];
  const [few, many] = [all.filter(([, checks]) => isFew(checks)), all.filter(([, checks]) => !isFew(checks))];
  // On a cluster each stream may be on another server.
  const atOnce = isCluster(redis) ? 1 : STREAMS_AT_ONCE;
  const groups = Array.from({ length: Math.ceil(few.length / atOnce) }, (_, index) =>
    few.slice(index * atOnce, (index + 1) * atOnce),
  );
  const unread = await Promise.all(groups.map((group) => releaseGroup(redis, group)));
  return new Set([...many.map(([probe]) => probe), ...unread.flat()]);
}

function isFew(checks: readonly string[]): boolean {
  return checks.length <= ENTRIES_AT_ONCE;
}

async function releaseGroup(
  redis: Redis,
  group: readonly (readonly [probe: string, checks: readonly string[]])[],
): Promise<readonly string[]> {
  const keys = group.map(([probe]) => redisKeys.results(probe));
  const values = group.flatMap(([, checks]) => [checks.length, ...checks]);
  const said = (await onStore(redis, () => runScript(redis, releaseScript, keys, values))) as readonly number[];
  return group.flatMap(([probe], index) => (said[index] === 1 ? [probe] : []));
}

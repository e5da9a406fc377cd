import { JOB_QUEUE, redisKeys } from '@vantage/contract';
import { isCluster } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { defineScript, runScript } from '../../../redis/scripts.ts';

/** Data of a probe in Redis. */
export interface ProbeReading {
  /** Heartbeat as JSON; undefined if it is missing, too large or no string. */
  readonly text: string | undefined;
  /** Remaining lifetime of the heartbeat, milliseconds; negative if it is missing or has none. */
  readonly leftMs: number;
  /** True if the heartbeat has more than `MAX_HEARTBEAT_BYTES`. */
  readonly isOversized: boolean;
  /** Number of waiting jobs. */
  readonly waiting: number;
  /** Id of the next waiting job; null if none waits. */
  readonly oldest: string | null;
  /** Number of jobs that were taken and are not removed. */
  readonly active: number;
  /** Entries of the probe's result stream; 1 if the key has another type, so that the fault is noticed. */
  readonly entries: number;
}

export interface WantedReading {
  readonly id: string;
  /** True if it is known that no job is waiting. */
  readonly hasNoJobs: boolean;
}

/** Maximum size of a heartbeat, bytes. */
const MAX_HEARTBEAT_BYTES = 16_384;

/** Probes per command that asks whether any key exists. */
const ASKED_AT_ONCE = 250;

/** Probes per script, so that other commands run in between. */
const AT_ONCE = 100;

/**
 * Reads probes. KEYS of each probe: heartbeat, list of waiting jobs, list of active jobs, result stream. ARGV maximum
 * bytes of a heartbeat. Returns of each probe: heartbeat, its remaining time to live (ms), number of waiting jobs,
 * number of stream entries, number of active jobs, id of the next job. An agent may write values of any size and type:
 * Redis truncates a heartbeat one byte past the maximum. Most probes are idle: lists and streams are counted only if
 * any probe has one, because Redis removes empty lists.
 */
export const readProbesScript = defineScript(
  'no-writes',
  `
local function count(command, key, otherwise)
  local value = redis.pcall(command, key)
  return type(value) == 'number' and value or otherwise
end
local function counter(command, first, otherwise)
  local keys = {}
  for i = first, #KEYS, 4 do keys[#keys + 1] = KEYS[i] end
  if redis.call('EXISTS', unpack(keys)) == 0 then return function() return 0 end end
  return function(key) return count(command, key, otherwise) end
end
local waitingOf, activeOf, entriesOf = counter('LLEN', 2, 0), counter('LLEN', 3, 0), counter('XLEN', 4, 1)
local readings = {}
for i = 1, #KEYS, 4 do
  local text, left = redis.pcall('GETRANGE', KEYS[i], 0, ARGV[1]), -2
  if type(text) ~= 'string' then text = '' end
  if text ~= '' then left = redis.call('PTTL', KEYS[i]) end
  local waiting = waitingOf(KEYS[i + 1])
  local oldest = waiting > 0 and redis.call('LINDEX', KEYS[i + 1], -1)
  readings[#readings + 1] = { text, left, waiting, entriesOf(KEYS[i + 3]), activeOf(KEYS[i + 2]), oldest }
end
return readings
`,
);

type Raw = readonly [
  text: string,
  leftMs: number,
  waiting: number,
  entries: number,
  active: number,
  oldest: string | null,
];

/** Reads many probes; on a cluster one by one, because their slots differ. */
export async function readProbes(redis: Redis, probes: readonly WantedReading[]): Promise<readonly ProbeReading[]> {
  const batches = inBatches(probes, isCluster(redis) ? 1 : AT_ONCE);
  const replies = await Promise.all(
    batches.map(async (batch) => {
      const keys = batch.flatMap(({ id }) => [
        redisKeys.heartbeat(id),
        waitList(id),
        activeList(id),
        redisKeys.results(id),
      ]);
      return (await runScript(redis, readProbesScript, keys, [MAX_HEARTBEAT_BYTES])) as readonly Raw[];
    }),
  );
  return replies.flat().map(([text, leftMs, waiting, entries, active, oldest]) => {
    const isOversized = Buffer.byteLength(text) > MAX_HEARTBEAT_BYTES;
    return {
      text: text === '' || isOversized ? undefined : text,
      isOversized,
      leftMs,
      waiting,
      active,
      entries,
      oldest,
    };
  });
}

/**
 * Finds with one command per batch whether any probe has a heartbeat or waiting jobs: Redis removes empty lists, so the
 * key of a list exists only with jobs. Not for clusters, where each probe needs a command.
 *
 * @returns all probes of each batch in which any key exists
 */
export async function findAny(
  redis: Redis,
  what: 'heartbeat' | 'jobs',
  probes: readonly string[],
): Promise<readonly string[]> {
  const keyOf = what === 'heartbeat' ? redisKeys.heartbeat : waitList;
  const batches = inBatches(probes, ASKED_AT_ONCE);
  const counts = await Promise.all(batches.map((batch) => redis.exists(...batch.map(keyOf))));
  return batches.filter((_, index) => (counts[index] ?? 0) > 0).flat();
}

function inBatches<T>(probes: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(probes.length / size) }, (_, index) =>
    probes.slice(index * size, (index + 1) * size),
  );
}

/** The key of BullMQ with the jobs that are not taken. */
function waitList(probe: string): string {
  return `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:wait`;
}

/** The key of BullMQ with the jobs that are taken. */
function activeList(probe: string): string {
  return `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:active`;
}

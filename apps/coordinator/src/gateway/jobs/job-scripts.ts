import { defineScript } from '../../redis/scripts.ts';

/**
 * Takes jobs of one probe and records the instance for which they are taken; drops those without data. KEYS waiting
 * jobs, active jobs. ARGV prefix of the keys of jobs, most jobs, instance of the agent. Returns jobs as id, name, data,
 * timestamp, and how many wait. All keys share one hash tag.
 */
export const takeScript = defineScript(
  '',
  `
local taken = {}
for _ = 1, tonumber(ARGV[2]) do
  local id = redis.call('LMOVE', KEYS[1], KEYS[2], 'RIGHT', 'LEFT')
  if not id then break end
  local key = ARGV[1] .. id
  local job = redis.call('HMGET', key, 'name', 'data', 'timestamp')
  if job[2] then
    redis.call('HSET', key, 'taker', ARGV[3])
    taken[#taken + 1] = { id, job[1] or '', job[2], job[3] or '0' }
  else
    redis.call('LREM', KEYS[2], 0, id)
  end
end
return { taken, redis.call('LLEN', KEYS[1]) }`,
);

/** Maximum jobs per run of the script; the rest are found once these are finished. */
const MOST_JOBS = 1_000;

/**
 * Lists taken jobs. KEYS active jobs. ARGV prefix of the keys of jobs. Returns id, name, data, timestamp and taker of
 * each; '' for an absent value, '0' for an absent timestamp.
 */
export const activeScript = defineScript(
  'no-writes',
  `
local found = {}
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, ${MOST_JOBS - 1})) do
  local job = redis.call('HMGET', ARGV[1] .. id, 'name', 'data', 'timestamp', 'taker')
  found[#found + 1] = { id, job[1] or '', job[2] or '', job[3] or '0', job[4] or '' }
end
return found`,
);

/**
 * Forgets a connection if its value is still stored: its instance may have opened another one. KEYS connections. ARGV
 * instance, the value that the connection stored.
 */
export const forgetConnectionScript = defineScript(
  'allow-oom',
  `
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])`,
);

export const gatewayScripts = [takeScript, activeScript, forgetConnectionScript] as const;

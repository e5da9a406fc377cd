import { MONITOR_RUNS_KEPT, PATH_CHANGES_KEPT } from '@vantage/contract';

import { defineScript, type Script } from '../../redis/scripts.ts';
import { putScript, removeScript } from './definition-scripts.ts';

/*
 * All keys share a hash tag. A claim moves the due time forward by a lease only: a coordinator that ends before
 * `confirmScript` has run leaves the claim, with the id of its check, to another one.
 */

/**
 * Claims due ticks. KEYS due, definitions, claims, ticks. ARGV lease (ms), time after which a tick is missed (ms),
 * limit, then as many ids for checks. Returns the time (ms), the earliest due time (a tick or the end of a lease) or
 * '', name, claim and definition of each claimed tick, and name, due time (ms) and definition of each missed one. A
 * missed tick keeps its due time: postponed by a lease, it would seem timely.
 */
export const claimScript = defineScript(
  'allow-oom',
  `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'WITHSCORES', 'LIMIT', 0, ARGV[3])
local claimed, missed = {}, {}
for i = 1, #due, 2 do
  local name, at = due[i], due[i + 1]
  local definition = redis.call('HGET', KEYS[2], name)
  if not definition then
    redis.call('ZREM', KEYS[1], name)
    redis.call('HDEL', KEYS[3], name)
  else
    local claim = redis.call('HGET', KEYS[3], name)
    local isMissed = not claim and now - at > tonumber(ARGV[2])
    if not claim and not isMissed then
      local tick = redis.call('HINCRBY', KEYS[4], name, 1)
      local id = ARGV[4 + (i - 1) / 2]
      claim = '{"tick":' .. tick .. ',"checkId":"' .. id .. '","atMs":' .. string.format('%.0f', at) .. '}'
      redis.call('HSET', KEYS[3], name, claim)
    end
    if not isMissed then redis.call('ZADD', KEYS[1], now + ARGV[1], name) end
    local list = isMissed and missed or claimed
    list[#list + 1] = name
    list[#list + 1] = isMissed and string.format('%.0f', at) or claim
    list[#list + 1] = definition
  end
end
local next = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return { string.format('%.0f', now), next[2] or '', claimed, missed }
`,
);

/**
 * Postpones missed ticks, except those that another coordinator has postponed meanwhile. KEYS due. ARGV name, due time
 * and new time (ms) of each missed tick.
 */
export const postponeScript = defineScript(
  'allow-oom',
  `
for i = 1, #ARGV, 3 do
  local at = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if at and string.format('%.0f', at) == ARGV[i + 1] then redis.call('ZADD', KEYS[1], ARGV[i + 2], ARGV[i]) end
end
return 1
`,
);

/**
 * Replaces a claim by the open tick, whose check was started or skipped. KEYS due, claims, open, open ticks of the
 * monitor. ARGV name, claim, next tick (ms), time for any coordinator to evaluate it (ms), the open tick. Returns 1, or
 * 0 if the claim is no longer there.
 */
export const confirmScript = defineScript(
  'allow-oom',
  `
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
redis.call('ZADD', KEYS[3], 'NX', ARGV[4], ARGV[1])
redis.call('RPUSH', KEYS[4], ARGV[5])
return 1
`,
);

/** Events kept per monitor for clients that resume. */
export const EVENTS_KEPT = 100;

/**
 * Writes the outcome of an open tick. KEYS state, runs, open ticks of the monitor, open, events of the monitor, outbox,
 * changes of its path. ARGV name, the open tick, the state before, the new state, the run, time for any coordinator to
 * evaluate the next open tick (ms), channel of changes, task of the outbox or '', change of the path or '', then the
 * events. Returns `done`, or `taken` if another coordinator did it or the monitor was changed or removed.
 */
export const commitScript = defineScript(
  'allow-oom',
  `
if redis.call('LINDEX', KEYS[3], 0) ~= ARGV[2] then return 'taken' end
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[3] then return 'taken' end
redis.call('LPOP', KEYS[3])
redis.call('SET', KEYS[1], ARGV[4])
redis.call('LPUSH', KEYS[2], ARGV[5])
redis.call('LTRIM', KEYS[2], 0, ${MONITOR_RUNS_KEPT - 1})
if redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('ZADD', KEYS[4], ARGV[6], ARGV[1])
else
  redis.call('ZREM', KEYS[4], ARGV[1])
end
if ARGV[9] ~= '' then
  redis.call('LPUSH', KEYS[7], ARGV[9])
  redis.call('LTRIM', KEYS[7], 0, ${PATH_CHANGES_KEPT - 1})
end
for i = 10, #ARGV do redis.call('XADD', KEYS[5], 'MAXLEN', ${EVENTS_KEPT}, '*', 'event', ARGV[i]) end
if ARGV[8] ~= '' then redis.call('ZADD', KEYS[6], 0, ARGV[8]) end
redis.call('PUBLISH', ARGV[7], ARGV[1])
return 'done'
`,
);

/**
 * Claims the due members of a sorted set: they are due again after the lease unless they are removed by then. KEYS a
 * sorted set of members by due time. ARGV limit, lease (ms). Returns the claimed members.
 */
export const claimDueScript = defineScript(
  'allow-oom',
  `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local names = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
for _, name in ipairs(names) do redis.call('ZADD', KEYS[1], now + ARGV[2], name) end
return names
`,
);

/**
 * Removes a task and, unless another coordinator has done so or the monitor is gone, writes the parting of its monitor
 * with an event. KEYS outbox, definitions, events of the monitor, its parting. ARGV the task, name, the parting, the
 * event, channel of changes.
 */
export const partingScript = defineScript(
  'allow-oom',
  `
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 'taken' end
if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0 then return 'gone' end
redis.call('SET', KEYS[4], ARGV[3])
redis.call('XADD', KEYS[3], 'MAXLEN', ${EVENTS_KEPT}, '*', 'event', ARGV[4])
redis.call('PUBLISH', ARGV[5], ARGV[2])
return 'done'
`,
);

export const monitorScripts: readonly Script[] = [
  claimScript,
  postponeScript,
  confirmScript,
  commitScript,
  claimDueScript,
  putScript,
  removeScript,
  partingScript,
];

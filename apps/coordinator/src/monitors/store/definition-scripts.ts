import { defineScript } from '../../redis/scripts.ts';

const forget = `
local function forget(name)
  redis.call('HDEL', KEYS[3], name)
  redis.call('ZREM', KEYS[4], name)
  redis.call('DEL', KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10])
end
local function isOfFile(stored)
  return stored and cjson.decode(stored).owner == 'file'
end
`;

/**
 * Creates or changes a monitor. A changed definition starts without state, runs, events and changes of the path, but an
 * alarm stays on until ticks of the new definition end it, and a monitor that was not ok is unknown, so that its turn
 * to ok is reported.
 *
 * KEYS definitions, due, claims, open, open ticks, state, runs, events, parting, changes of the path. ARGV name,
 * definition, owner, first tick (ms), most monitors, first tick if the alarm is on (ms), a stored definition of the
 * same meaning, which is replaced without other consequences. Returns `same`, `new`,
 * `changed`, `file` if the file owns the monitor, or `full`.
 */
export const putScript = defineScript(
  '',
  `
${forget}
local stored = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[3] ~= 'file' and isOfFile(stored) then return 'file' end
if stored == ARGV[2] or stored == ARGV[7] then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('ZADD', KEYS[2], 'NX', ARGV[4], ARGV[1])
  return 'same'
end
if not stored and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[5]) then return 'full' end
local before = stored and redis.call('GET', KEYS[6])
local last = before and cjson.decode(before) or {}
local alarmSince = tonumber(last.alarmSinceMs) or (last.state == 'bad' and last.sinceMs)
forget(ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], alarmSince and ARGV[6] or ARGV[4], ARGV[1])
if alarmSince or last.state == 'unknown' then
  local time = redis.call('TIME')
  redis.call('SET', KEYS[6], string.format(
    '{"tick":%.0f,"atMs":%.0f,"state":"unknown","sinceMs":%.0f,"turning":null,"alarmSinceMs":%s,"agreement":null,' ..
      '"headline":null,"probes":{}}',
    last.tick, last.atMs, time[1] * 1000 + math.floor(time[2] / 1000),
    alarmSince and string.format('%.0f', alarmSince) or 'null'))
end
return stored and 'changed' or 'new'
`,
);

/**
 * Removes a monitor. The number of its last tick is kept for a time, so that messages about it are distinguished from
 * those about a later monitor of its name. KEYS those of `putScript`, ticks, ended, ended at. ARGV name, owner, time for
 * which the number is kept (ms). Returns `removed`, `absent`, or `file` if it has
 * another owner.
 */
export const removeScript = defineScript(
  'allow-oom',
  `
${forget}
local stored = redis.call('HGET', KEYS[1], ARGV[1])
if not stored then return 'absent' end
if isOfFile(stored) ~= (ARGV[2] == 'file') then return 'file' end
forget(ARGV[1])
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local tick = redis.call('HGET', KEYS[11], ARGV[1])
if tick then
  redis.call('HSET', KEYS[12], ARGV[1], tick)
  redis.call('ZADD', KEYS[13], now, ARGV[1])
end
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[13], '-inf', now - ARGV[3], 'LIMIT', 0, 100)) do
  redis.call('ZREM', KEYS[13], name)
  redis.call('HDEL', KEYS[12], name)
  if redis.call('HEXISTS', KEYS[1], name) == 0 then redis.call('HDEL', KEYS[11], name) end
end
return 'removed'
`,
);

import { defineScript } from '../redis/scripts.ts';

/** Maximum bytes read of a heartbeat, far more than agents write: a stolen Redis login may write any value. */
export const MAX_READ_BYTES = 16_384;

/** Lua function: true if the heartbeat was written by a newer connection of the same key. */
const isNewer = `
local function isNewer(key, fingerprint, counter, last)
  local text = redis.pcall('GETRANGE', key, 0, last)
  if type(text) ~= 'string' then return false end
  local ok, old = pcall(cjson.decode, text)
  if not ok or type(old) ~= 'table' or type(old.gateway) ~= 'table' then return false end
  return old.gateway.key == fingerprint and (tonumber(old.gateway.counter) or 0) > tonumber(counter)
end`;

/**
 * Writes the heartbeat of a connection, unless a newer connection of the same key has written one. KEYS heartbeat. ARGV
 * heartbeat, time to live (ms), fingerprint and counter of the connection, last byte to read.
 */
export const writeHeartbeatScript = defineScript(
  '',
  `${isNewer}
if isNewer(KEYS[1], ARGV[3], ARGV[4], ARGV[5]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`,
);

/**
 * Removes the heartbeat of a connection, unless a newer connection of the same key has written it. KEYS heartbeat. ARGV
 * fingerprint and counter of the connection, last byte to read.
 */
export const removeHeartbeatScript = defineScript(
  'allow-oom',
  `${isNewer}
if isNewer(KEYS[1], ARGV[1], ARGV[2], ARGV[3]) then return 0 end
return redis.call('DEL', KEYS[1])`,
);

export const heartbeatScripts = [writeHeartbeatScript, removeHeartbeatScript] as const;

import { defineScript } from '../../../redis/scripts.ts';
import { IDEMPOTENCY_RECORD_BYTES, RECORD_BYTES, RESULT_BYTES } from '../stored-bytes.ts';

/*
 * Scripts that read and write checks. All keys of one script share a hash tag, hence a slot of Redis Cluster;
 * times are those of the clock of Redis.
 */

/** Lua that writes the record of a new check with all results pending. */
export const recordLua = `
local function writeRecord(check, results, ttl, probes, fields)
  local pending = {}
  for _, probe in ipairs(probes) do
    pending[#pending + 1] = probe
    pending[#pending + 1] = ''
  end
  redis.call('HSET', check, 'v', 0, unpack(fields))
  redis.call('HSET', results, unpack(pending))
  redis.call('PEXPIRE', check, ttl)
  redis.call('PEXPIRE', results, ttl)
end
`;

/**
 * Writes the record of a new check. KEYS check, results. ARGV lifetime (ms), number of probes, the probes, then fields
 * and values of the record, whose field `pending` is the number of results and screenshots to come.
 */
export const createScript = defineScript(
  '',
  `
${recordLua}
local last = 2 + tonumber(ARGV[2])
writeRecord(KEYS[1], KEYS[2], ARGV[1], { unpack(ARGV, 3, last) }, { unpack(ARGV, last + 1) })
return 'OK'
`,
);

/**
 * Lua at the end of each script that writes final results or ends the screenshot: completes the check when nothing is
 * pending. KEYS check, results, partials. ARGV: the first is the retention (ms); the third is 1 if the check is to be
 * returned. Uses the variables `pending` and `said` of the script.
 */
export const completion = `
if pending == 0 then
  local time = redis.call('TIME')
  local now = math.max(time[1] * 1000 + math.floor(time[2] / 1000), tonumber(redis.call('HGET', KEYS[1], 'createdAt')))
  local version = redis.call('HINCRBY', KEYS[1], 'v', 1)
  redis.call('HSET', KEYS[1], 'completedAt', string.format('%.0f', now))
  redis.call('HDEL', KEYS[1], 'absent')
  redis.call('DEL', KEYS[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[1])
  redis.call('PUBLISH', KEYS[1] .. ':ev', '{"version":' .. version .. ',"kind":"completed"}')
  local bytes = ${RECORD_BYTES} + redis.call('HEXISTS', KEYS[1], 'first') * ${IDEMPOTENCY_RECORD_BYTES}
  for _, stored in ipairs(redis.call('HVALS', KEYS[2])) do bytes = bytes + #stored + ${RESULT_BYTES} end
  said[1] = { bytes, redis.call('HGET', KEYS[1], 'client') or '' }
  if ARGV[3] == '1' then said[2] = { redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]) } end
end
return said
`;

/**
 * Lua that compares the time of a result, such as the one in the id of its stream entry, with the deadline. After the
 * clock was stepped back, ids continue from the last one: a time in the future is not conclusive and counts as in time.
 */
export const isLate = `
local function isLate(ms, deadline)
  local written = tonumber(ms)
  if written <= deadline then return false end
  local time = redis.call('TIME')
  return written <= time[1] * 1000 + math.ceil(time[2] / 1000)
end
`;

/**
 * Writes final results. A field changes once, from '' to the stored result. Repeated and late results, and those of
 * other probes or unknown checks, change nothing.
 * KEYS check, results, partials. ARGV retention (ms), time of the results (ms; 0: in time), 1 to return the check, then
 * pairs of probe and stored result. Returns 0, or bytes and client of the check that this completes; then the hashes of
 * its record and results if it is completed and they are requested, else an empty list; then a status per pair.
 */
export const writeFinalsScript = defineScript(
  'allow-oom',
  `
local said = {0, {}}
local deadline = tonumber(redis.call('HGET', KEYS[1], 'deadlineAt') or '')
${isLate}
local late = deadline and isLate(ARGV[2], deadline)
local probes, stored, applied, isApplied = {}, {}, {}, {}
for i = 4, #ARGV, 2 do probes[#probes + 1] = ARGV[i] end
local current = deadline and #probes > 0 and redis.call('HMGET', KEYS[2], unpack(probes)) or {}
for i, probe in ipairs(probes) do
  if not deadline then
    said[#said + 1] = 'unknown'
  elseif not current[i] then
    said[#said + 1] = 'foreign'
  elseif late then
    said[#said + 1] = 'late'
  elseif current[i] ~= '' or isApplied[probe] then
    said[#said + 1] = 'duplicate'
  else
    isApplied[probe] = true
    applied[#applied + 1] = probe
    stored[#stored + 1] = probe
    stored[#stored + 1] = ARGV[3 + i * 2]
    said[#said + 1] = 'applied'
  end
end
local pending
if #applied > 0 then
  redis.call('HSET', KEYS[2], unpack(stored))
  redis.call('HDEL', KEYS[3], unpack(applied))
  pending = redis.call('HINCRBY', KEYS[1], 'pending', -#applied)
  local version = redis.call('HINCRBY', KEYS[1], 'v', #applied) - #applied
  local versions = {}
  for _, probe in ipairs(applied) do
    version = version + 1
    versions[#versions + 1] = 'v:' .. probe
    versions[#versions + 1] = version
  end
  redis.call('HSET', KEYS[1], unpack(versions))
  for i, probe in ipairs(applied) do
    local said = '{"version":' .. versions[i * 2] .. ',"probe":"' .. probe .. '","kind":"final"}'
    redis.call('PUBLISH', KEYS[1] .. ':ev', said)
  end
end
${completion}`,
);

/**
 * Stores the newest partial result of a pending probe as '<version> <ms>-<sequence> <JSON>'. The stream id decides
 * which is newest, because two coordinators may process two of them concurrently. Not run when memory is short: partial
 * results are optional.
 * KEYS check, results, partials. ARGV probe, milliseconds and sequence of the stream entry, JSON. Returns a status.
 */
export const partialScript = defineScript(
  '',
  `
local current = redis.call('HGET', KEYS[2], ARGV[1])
if not current then return 'foreign' end
if current ~= '' then return 'duplicate' end
local ms, sequence = tonumber(ARGV[2]), tonumber(ARGV[3])
local kept = redis.call('HGET', KEYS[3], ARGV[1])
if kept then
  local keptMs, keptSequence = string.match(kept, '^%d+ (%d+)%-(%d+) ')
  keptMs, keptSequence = tonumber(keptMs), tonumber(keptSequence)
  if keptMs > ms or (keptMs == ms and keptSequence >= sequence) then return 'duplicate' end
end
local version = redis.call('HINCRBY', KEYS[1], 'v', 1)
redis.call('HSET', KEYS[1], 'v:' .. ARGV[1], version)
redis.call('HSET', KEYS[3], ARGV[1], version .. ' ' .. ARGV[2] .. '-' .. ARGV[3] .. ' ' .. ARGV[4])
redis.call('PEXPIRE', KEYS[3], math.max(redis.call('PTTL', KEYS[1]), 1))
redis.call('PUBLISH', KEYS[1] .. ':ev', '{"version":' .. version .. ',"probe":"' .. ARGV[1] .. '","kind":"partial"}')
return 'applied'
`,
);

/** Reads a check consistently. KEYS check, results, partials. Returns the three hashes as flat lists. */
export const readScript = defineScript(
  'no-writes',
  `
return { redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]), redis.call('HGETALL', KEYS[3]) }
`,
);

export const checkScripts = [createScript, writeFinalsScript, partialScript, readScript] as const;

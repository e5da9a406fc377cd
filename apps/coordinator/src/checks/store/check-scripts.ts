import { LONGEST_CHECK_MS, MAX_RESULT_BYTES, MAX_SCREENSHOT_BYTES } from '@vantage/contract';

import { CLOCK_STEP_MS } from '../../redis/clock.ts';
import { defineScript } from '../../redis/scripts.ts';
import { IDEMPOTENCY_RECORD_BYTES, RECORD_BYTES, RESULT_BYTES } from './stored-bytes.ts';

/*
 * Scripts that read and write checks. All keys of one script are in one family, hence in one slot of Redis Cluster;
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
 * KEYS check, results. ARGV lifetime (ms), number of probes, the probes, then fields and values of the record. Its
 * field `pending` is the number of results and screenshots to come.
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
 * Lua at the end of every settling script: completes the check when nothing is pending. KEYS check, results, partials.
 * ARGV retention (ms); the third is 1 to return the check. Uses the variables `pending` and `said` of the script.
 */
export const completion = `
if pending == 0 then
  local time = redis.call('TIME')
  local now = math.max(time[1] * 1000 + math.floor(time[2] / 1000), tonumber(redis.call('HGET', KEYS[1], 'createdAt')))
  local version = redis.call('HINCRBY', KEYS[1], 'v', 1)
  redis.call('HSET', KEYS[1], 'completedAt', string.format('%.0f', now))
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
 * Lua that takes the time of a stream entry from its id. After the clock was stepped back, ids continue from the last
 * one; an id in the future is not conclusive, and its entry counts as in time.
 */
export const timeOfWriting = `
local function timeOfWriting(ms)
  local time = redis.call('TIME')
  local written = tonumber(ms)
  return written > time[1] * 1000 + math.ceil(time[2] / 1000) and 0 or written
end
`;

/**
 * Writes final results. A field changes once, from '' to JSON. Repeated and late results, and those of other probes or
 * unknown checks, change nothing.
 * KEYS check, results, partials. ARGV retention (ms), time of the entry (ms; 0: in time), 1 to return the check, then
 * pairs of probe and JSON. Returns 0, or bytes and client of the check that this completes; then, if requested, its
 * hashes; then a status per pair.
 */
export const settleScript = defineScript(
  'allow-oom',
  `
local said = {0, {}}
local deadline = tonumber(redis.call('HGET', KEYS[1], 'deadlineAt') or '')
${timeOfWriting}
local writtenAt = timeOfWriting(ARGV[2])
local probes, stored, applied, isApplied = {}, {}, {}, {}
for i = 4, #ARGV, 2 do probes[#probes + 1] = ARGV[i] end
local current = deadline and #probes > 0 and redis.call('HMGET', KEYS[2], unpack(probes)) or {}
for i, probe in ipairs(probes) do
  if not deadline then
    said[#said + 1] = 'unknown'
  elseif not current[i] then
    said[#said + 1] = 'foreign'
  elseif writtenAt > deadline then
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

/**
 * Reads the clock and the checks whose deadline has passed. KEYS deadlines, moved. ARGV limit. Returns seconds and
 * microseconds of the clock, the due checks, and the total shift of deadlines (ms).
 */
export const dueScript = defineScript(
  'no-writes',
  `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[1])
return { time[1], time[2], due, redis.call('GET', KEYS[2]) or '0' }
`,
);

/** A deadline further away than this was written with a reading of the clock before a step back; milliseconds. */
const FARTHEST_DEADLINE_MS = LONGEST_CHECK_MS + CLOCK_STEP_MS;

/**
 * Shifts all deadlines back after a step of the clock, so that pending checks keep their time. Each coordinator sums
 * the steps that it observed; only the part beyond the shifts already made is applied, so that one step shifts once and
 * two steps shift twice. If another coordinator has applied the shift, only the deadlines are shifted that this one
 * wrote since with its old reading of the clock.
 * KEYS deadlines, moved. ARGV the step (ms), sum of all observed steps (ms), smallest step. Returns the total shift.
 */
export const moveDeadlinesScript = defineScript(
  'allow-oom',
  `
local moved = tonumber(redis.call('GET', KEYS[2]) or '0')
local by, from = math.min(tonumber(ARGV[2]) - moved, tonumber(ARGV[1])), '-inf'
if by < tonumber(ARGV[3]) then
  by, from = tonumber(ARGV[1]), string.format('%.0f', redis.call('TIME')[1] * 1000 + ${FARTHEST_DEADLINE_MS})
else
  moved = moved + by
  redis.call('SET', KEYS[2], string.format('%.0f', moved))
end
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], from, 'inf', 'BYSCORE')) do
  redis.call('ZINCRBY', KEYS[1], -by, id)
end
return string.format('%.0f', moved)
`,
);

/**
 * Removes a waiting job. BullMQ's own removal would follow keys that the agent may have written.
 * KEYS wait list, job. ARGV job id. Returns 1 if it was waiting.
 */
export const removeWaitingJobScript = defineScript(
  'allow-oom',
  `
if redis.call('LREM', KEYS[1], 0, ARGV[1]) == 0 then return 0 end
redis.call('DEL', KEYS[2])
return 1
`,
);

/** A read stops after this many bytes: entries may contain screenshots. */
const MAX_READ_BYTES = 8 * 1_048_576;

/** Maximum number of names and values that Redis returns of one entry; no agent writes as many. */
export const MOST_FIELDS = 32;

/**
 * Stream entries are untrusted. To bound the memory of coordinators, Redis truncates each value one byte past its
 * limit, so that validation still rejects it, and returns at most `MOST_FIELDS` fields and one screenshot of an entry.
 * Returns the bytes of the entries or, if anything was truncated, `MAX_READ_BYTES`, so that the read ends: Redis has
 * read more than it returns.
 */
const bounded = `
local function bounded(entries)
  local bytes, isCostly = 0, false
  for _, entry in ipairs(entries) do
    local fields = entry[2]
    local pictures = 0
    if #fields > ${MOST_FIELDS} then
      isCostly = true
      fields = { unpack(fields, 1, ${MOST_FIELDS}) }
      entry[2] = fields
    end
    for i = 1, #fields do
      local most = ${MAX_RESULT_BYTES + 1}
      if i % 2 == 0 and fields[i - 1] == 'png' and pictures == 0 then
        pictures = 1
        most = ${MAX_SCREENSHOT_BYTES + 1}
      end
      if #fields[i] > most then
        isCostly = true
        fields[i] = string.sub(fields[i], 1, most)
      end
      bytes = bytes + #fields[i]
    end
  end
  return isCostly and ${MAX_READ_BYTES} or bytes
end
`;

/** Tolerance for ids of entries in the future, milliseconds. Ids that Redis chooses are timestamps. */
export const FUTURE_MS = 60_000;

/**
 * Lua that deletes an empty stream if its next id would be in the future, because an agent chose one or the clock was
 * stepped back. After the highest possible id Redis refuses every further entry, so one write would block a probe
 * permanently.
 */
const renewed = `
local function renewFuture(key)
  if redis.call('XLEN', key) ~= 0 then return end
  local info = redis.call('XINFO', 'STREAM', key)
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then
      local lastMs = tonumber(string.match(info[i + 1], '^%d+'))
      if lastMs > redis.call('TIME')[1] * 1000 + ${FUTURE_MS} then redis.call('DEL', key) end
      return
    end
  end
end
`;

/**
 * Acknowledges and deletes entries, then reads new ones, first one and then a few at a time; none if the limit is 0.
 * KEYS result stream. ARGV group, consumer, limit, then ids of processed entries. Returns the new entries, and 1 if
 * there may be more.
 */
export const takeEntriesScript = defineScript(
  'allow-oom',
  `${bounded}${renewed}
if #ARGV > 3 then
  redis.call('XACK', KEYS[1], ARGV[1], unpack(ARGV, 4))
  redis.call('XDEL', KEYS[1], unpack(ARGV, 4))
end
local left, bytes, taken, atOnce = tonumber(ARGV[3]), 0, {}, 1
while left > 0 and bytes < ${MAX_READ_BYTES} do
  local count = math.min(left, atOnce)
  atOnce = math.min(atOnce * 2, 8)
  local streams = redis.call('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', count, 'STREAMS', KEYS[1], '>')
  local entries = streams and streams[1][2] or {}
  bytes = bytes + bounded(entries)
  for _, entry in ipairs(entries) do taken[#taken + 1] = entry end
  if #entries < count then
    if #taken == 0 then renewFuture(KEYS[1]) end
    return { taken, 0 }
  end
  left = left - count
end
return { taken, 1 }
`,
);

/**
 * Claims entries that another reader left unacknowledged. KEYS result stream. ARGV group, consumer, minimum idle time
 * (ms), cursor, limit. Returns the next cursor and the entries.
 */
export const claimEntriesScript = defineScript(
  'allow-oom',
  `${bounded}
local claimed = redis.call('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], 'COUNT', ARGV[5])
bounded(claimed[2])
return claimed
`,
);

export const checkScripts = [
  createScript,
  settleScript,
  partialScript,
  readScript,
  dueScript,
  moveDeadlinesScript,
  removeWaitingJobScript,
  takeEntriesScript,
  claimEntriesScript,
] as const;

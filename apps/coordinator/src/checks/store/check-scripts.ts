import { MAX_RESULT_BYTES, MAX_SCREENSHOT_BYTES } from '@vantage/contract';

import { defineScript } from '../../redis/scripts.ts';
import { FIRST_ANSWER_BYTES, RECORD_BYTES, RESULT_BYTES } from './stored-bytes.ts';

/*
 * The scripts that touch a check. All keys of one script are in one family, so in one slot of a Redis Cluster; the times
 * in them are of Redis' own clock.
 */

/** Lua that writes the record of a new check, with all its results pending. */
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
 * KEYS check, results. ARGV time to live (ms), number of probes, then the probes, then field and value pairs of the record:
 * `pending` is among them, how many results and screenshots are to come.
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
 * The end of every script that settles something: what leaves none pending completes the check. KEYS check, results,
 * partials. ARGV retention (ms), then at 3 a 1 to be told the check. Uses `pending` and `said` of the script.
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
  local bytes = ${RECORD_BYTES} + redis.call('HEXISTS', KEYS[1], 'first') * ${FIRST_ANSWER_BYTES}
  for _, stored in ipairs(redis.call('HVALS', KEYS[2])) do bytes = bytes + #stored + ${RESULT_BYTES} end
  said[1] = { bytes, redis.call('HGET', KEYS[1], 'client') or '' }
  if ARGV[3] == '1' then said[2] = { redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]) } end
end
return said
`;

/**
 * Lua that reads when an entry of a stream was written, by its id. After the clock was stepped back, ids go on from where they were:
 * one of the future says nothing, and its entry counts as in time.
 */
export const timeOfWriting = `
local function timeOfWriting(ms)
  local time = redis.call('TIME')
  local written = tonumber(ms)
  return written > time[1] * 1000 + math.ceil(time[2] / 1000) and 0 or written
end
`;

/**
 * Writes final results. A field changes once, from '' to its JSON: what is repeated, late, of a probe that the check did
 * not ask or of a check that does not exist changes nothing.
 *
 * KEYS check, results, partials. ARGV retention (ms), time at which the result was written (ms; 0: in time), 1 to be told
 * the check, then pairs of probe and JSON. Returns 0, or the bytes and the client of the check that is completed by this, the hashes of the check if
 * it is and they were asked for, then a word per pair.
 */
export const settleScript = defineScript(
  'allow-oom',
  `
local said = {0, {}}
local deadline = tonumber(redis.call('HGET', KEYS[1], 'deadlineAt') or '')
${timeOfWriting}
local writtenAt = timeOfWriting(ARGV[2])
local pending
for i = 4, #ARGV, 2 do
  local probe = ARGV[i]
  local current = deadline and redis.call('HGET', KEYS[2], probe)
  if not deadline then
    said[#said + 1] = 'unknown'
  elseif not current then
    said[#said + 1] = 'foreign'
  elseif writtenAt > deadline then
    said[#said + 1] = 'late'
  elseif current ~= '' then
    said[#said + 1] = 'duplicate'
  else
    redis.call('HSET', KEYS[2], probe, ARGV[i + 1])
    redis.call('HDEL', KEYS[3], probe)
    pending = redis.call('HINCRBY', KEYS[1], 'pending', -1)
    local version = redis.call('HINCRBY', KEYS[1], 'v', 1)
    redis.call('HSET', KEYS[1], 'v:' .. probe, version)
    redis.call('PUBLISH', KEYS[1] .. ':ev', '{"version":' .. version .. ',"probe":"' .. probe .. '","kind":"final"}')
    said[#said + 1] = 'applied'
  end
end
${completion}`,
);

/**
 * Keeps the newest partial result of a probe that is pending, as '<version> <ms>-<sequence> <JSON>'. Newest by its place in
 * the probe's stream: two coordinators may hold two of them at once. Not run when memory is short: a partial can be missed.
 *
 * KEYS check, results, partials. ARGV probe, milliseconds and sequence of the stream entry, JSON. Returns a word.
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

/** KEYS check, results, partials. Returns the three hashes as flat lists, at one moment. */
export const readScript = defineScript(
  'no-writes',
  `
return { redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]), redis.call('HGETALL', KEYS[3]) }
`,
);

/**
 * KEYS deadlines, moved. ARGV the most to return. Returns seconds and microseconds of the clock, then the checks that are due, then
 * by how many milliseconds deadlines were moved in all.
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

/** Milliseconds. No check has as long. */
const LONGEST_CHECK_MS = 600_000;

/**
 * Moves all deadlines back after a step of the clock, so that pending checks keep their time. Each coordinator counts the steps that it
 * saw; only what exceeds the moves that were made already is moved, so two steps in a row move twice, and one step once. A coordinator
 * whose step was moved by another one moves only the deadlines that it wrote since by its old reading of the clock.
 *
 * KEYS deadlines, moved. ARGV milliseconds of the step, milliseconds of all steps that this coordinator saw, least step. Returns what was
 * moved in all.
 */
export const moveDeadlinesScript = defineScript(
  'allow-oom',
  `
local moved = tonumber(redis.call('GET', KEYS[2]) or '0')
local by, from = math.min(tonumber(ARGV[2]) - moved, tonumber(ARGV[1])), '-inf'
if by < tonumber(ARGV[3]) then
  by, from = tonumber(ARGV[1]), string.format('%.0f', redis.call('TIME')[1] * 1000 + ${LONGEST_CHECK_MS})
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
 * Takes back a job that still waits. Never BullMQ's own removal: it follows keys that the agent may have written.
 *
 * KEYS wait list, job. ARGV job id. Returns 1 when it was still waiting.
 */
export const removeWaitingJobScript = defineScript(
  'allow-oom',
  `
if redis.call('LREM', KEYS[1], 0, ARGV[1]) == 0 then return 0 end
redis.call('DEL', KEYS[2])
return 1
`,
);

/** Where one reading has this many bytes it takes no more: pictures are large, and there may be many. */
const MAX_READ_BYTES = 8 * 1_048_576;

/**
 * What an agent wrote may be of any size, and each coordinator in turn would die of it. So it leaves Redis cut: a value one
 * byte longer than it may be is refused like the whole, no entry has so many fields, and one picture at most. Returns the bytes; what
 * had to be cut has cost more than they say, and counts as all that one reading may have.
 */
/** Names and values of an entry that leave Redis; no agent writes as many. */
export const MOST_FIELDS = 32;

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

/** Milliseconds. Ids of entries that Redis chooses are its time. */
const FUTURE_MS = 60_000;

/**
 * Lua that deletes an empty stream if its next id would be of the future: an agent chose one, or the clock was stepped back. After the
 * last possible id Redis refuses every further entry, so that one write would end the results of a probe permanently.
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
 * KEYS result stream. ARGV group, consumer, the most to read, then entry ids. Acknowledges those entries and deletes them,
 * then reads what nobody has read yet, one and then a few at a time; none where the most to read is 0. Returns the entries, and 1 where
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
 * KEYS result stream. ARGV group, consumer, milliseconds for which an entry was held, where to go on, the most to read.
 * Returns where to go on, and the entries.
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
  ...[createScript, settleScript, partialScript, readScript],
  ...[dueScript, moveDeadlinesScript, removeWaitingJobScript, takeEntriesScript, claimEntriesScript],
] as const;

import { MAX_RESULT_BYTES, MAX_SCREENSHOT_BYTES } from '@vantage/contract';

import { defineScript } from '../../redis/scripts.ts';

/** A read of new entries stops after this many bytes: entries may contain screenshots. */
const MAX_READ_BYTES = 8 * 1_048_576;

/** Maximum number of names and values of one entry that a script returns; no agent writes as many. */
export const MOST_FIELDS = 32;

/**
 * Lua for untrusted stream entries. To bound the memory of coordinators, truncates each name and value one byte past
 * its limit, so that validation still rejects it, and keeps at most `MOST_FIELDS` names and values and one screenshot
 * of an entry. Returns the bytes of the entries or, if anything was truncated, `MAX_READ_BYTES`, so that the read ends:
 * Redis has read more than is left.
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
 * Lua that deletes an empty stream if its next id would be far in the future, because an agent chose such an id or the
 * clock was stepped back. After the highest possible id Redis refuses every further entry, so one write would block a
 * probe permanently.
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
 * Acknowledges and deletes entries, then reads new ones, first one and then a few at a time; none if the limit is 0. A
 * probe that has written nothing has no stream, which is no error.
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
  local streams = redis.pcall('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', count, 'STREAMS', KEYS[1], '>')
  if streams and streams.err then return redis.call('EXISTS', KEYS[1]) == 0 and { {}, 0 } or streams end
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
 * (ms), cursor, limit. Returns the next cursor, 0-0 at the end, and the entries; none if there is no stream.
 */
export const claimEntriesScript = defineScript(
  'allow-oom',
  `${bounded}
local claimed = redis.pcall('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], 'COUNT', ARGV[5])
if claimed.err then return redis.call('EXISTS', KEYS[1]) == 0 and { '0-0', {} } or claimed end
bounded(claimed[2])
return claimed
`,
);

export const streamScripts = [takeEntriesScript, claimEntriesScript] as const;

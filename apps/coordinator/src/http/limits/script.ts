import { createHash } from 'node:crypto';

import { SLICE_MS, WINDOW_MS } from './window.ts';

/**
 * Counts one request on every axis of a client, or on none: KEYS are the axes, ARGV their limits. Each key is a hash of
 * slice number → requests. Times are those of Redis, so that all coordinators agree; a test gives its own after the limits.
 *
 * Replies with `{admitted, hits of the first axis, milliseconds until the count falls}`. `memory-window.ts` is the same
 * in TypeScript; a test holds them equal.
 */
const lua = `
local WINDOW, SLICE = ${WINDOW_MS}, ${SLICE_MS}
local now = tonumber(ARGV[#KEYS + 1])
if now == nil then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local from = now - WINDOW
local admitted, hits, reset = 1, 0, 0
local counts = {}
for axis, key in ipairs(KEYS) do
  local limit = tonumber(ARGV[axis])
  local fields = redis.call('HGETALL', key)
  local slices, stale, count = {}, {}, 0
  for i = 1, #fields, 2 do
    local start = tonumber(fields[i]) * SLICE
    local requests = tonumber(fields[i + 1])
    if start + SLICE <= from then
      stale[#stale + 1] = fields[i]
    else
      slices[#slices + 1] = { start, requests }
      local part = math.min(1, (start + SLICE - from) / SLICE)
      count = count + math.ceil(requests * part)
    end
  end
  if #stale > 0 then redis.call('HDEL', key, unpack(stale)) end
  if axis == 1 then hits = count + 1 end
  table.sort(slices, function(a, b) return a[1] < b[1] end)
  local wait = 0
  local excess = math.max(1, count + 1 - limit)
  for _, slice in ipairs(slices) do
    if excess <= 0 then break end
    local part = math.min(1, (slice[1] + SLICE - from) / SLICE)
    local counted = math.ceil(slice[2] * part)
    local left = math.max(0, counted - excess)
    -- The slice counts for at most 'left' once that share of it is in the window.
    wait = math.ceil(slice[1] + SLICE - left / slice[2] * SLICE - from) + 1
    excess = excess - counted
  end
  if count + 1 > limit then
    if admitted == 1 then reset = 0 end
    admitted = 0
    hits = math.max(hits, tonumber(ARGV[1]) + 1)
    reset = math.max(reset, wait)
  elseif admitted == 1 and axis == 1 then
    reset = #slices > 0 and wait or WINDOW
  end
end
if admitted == 1 then
  local slice = string.format('%d', math.floor(now / SLICE))
  for _, key in ipairs(KEYS) do
    redis.call('HINCRBY', key, slice, 1)
    redis.call('PEXPIRE', key, WINDOW + SLICE)
  end
end
return { admitted, hits, reset }
`;

export const countScript = { lua, sha1: createHash('sha1').update(lua).digest('hex') } as const;

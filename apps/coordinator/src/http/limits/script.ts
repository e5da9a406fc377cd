import { createHash } from 'node:crypto';

import type { Axis, Charge } from './axes.ts';
import { SLICE_MS, WINDOW_MS, type Count } from './window.ts';

/** Lifetime of a grant; the command that uses it is sent right after this script. */
const GRANT_MS = 5_000;

/**
 * Counts a request. KEYS are the axes, those of the client first. ARGV: number of client axes, then limit, cost and
 * member of each axis, then a key to write if all axes admit the request, or '', then, in tests, the time. Times are
 * those of Redis, so that all coordinators agree.
 * The client axes admit the request together or count nothing. If they do, it is counted on them, whatever the target
 * axes decide; these, too, admit it together or count nothing. A cost beyond the limit is admitted into an empty
 * window.
 * An axis is a hash of slice number → sum of costs, or, with members, a sorted set of them by time of last use.
 * Returns the parts of a `Count` as `{admitted, hits, resetMs, number of the refusing target axis or 0, what that axis
 * or the refusing client axes have left, milliseconds until the target axis admits}`. `memory-window.ts` implements the
 * same in TypeScript; a test compares them.
 */
const lua = `
local WINDOW, SLICE = ${WINDOW_MS}, ${SLICE_MS}
local clients = tonumber(ARGV[1])
local grant = ARGV[3 * #KEYS + 2]
local now = tonumber(ARGV[3 * #KEYS + 3])
if now == nil then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local from = now - WINDOW

-- Costs of a slice that count, by the milliseconds until it has left the window.
local function counted(rest, costs)
  return rest < SLICE and math.ceil(costs * rest / SLICE) or costs
end

-- Milliseconds until the count of a slice has fallen by 'excess', or to zero.
local function wait_for(rest, costs, excess)
  local left = math.max(0, counted(rest, costs) - excess)
  -- The slice counts for at most 'left' once that share of it is in the window.
  return math.ceil(rest - left / costs * SLICE) + 1
end

-- Does the same for all slices in a hash, oldest first. For an excess of one the oldest slice suffices: sorting costs more
-- than counting.
local function wait_for_all(fields, excess)
  local slices, wait = {}, 0
  for i = 1, #fields, 2 do
    local rest = fields[i] * SLICE + SLICE - from
    if rest > 0 then slices[#slices + 1] = { rest, tonumber(fields[i + 1]) } end
  end
  table.sort(slices, function(a, b) return a[1] < b[1] end)
  for _, slice in ipairs(slices) do
    if excess <= 0 then break end
    wait = wait_for(slice[1], slice[2], excess)
    excess = excess - counted(slice[1], slice[2])
  end
  return wait
end

local function sum(key, limit, cost)
  local fields = redis.call('HGETALL', key)
  local stale, count, oldest, oldest_costs = {}, 0, math.huge, 0
  for i = 1, #fields, 2 do
    local rest, costs = fields[i] * SLICE + SLICE - from, tonumber(fields[i + 1])
    if rest <= 0 then
      stale[#stale + 1] = fields[i]
    else
      count = count + counted(rest, costs)
      if rest < oldest then oldest, oldest_costs = rest, costs end
    end
  end
  if #stale > 0 then redis.call('HDEL', key, unpack(stale)) end
  if count == 0 then return true, 0, WINDOW end
  local excess = math.min(count, count + cost - limit)
  local wait = excess > 1 and wait_for_all(fields, excess) or wait_for(oldest, oldest_costs, 1)
  return count + cost <= limit, count, wait
end

local function distinct(key, limit, member)
  local count = redis.call('ZCARD', key)
  -- With those that have left the window it is too high, which matters at the limit only.
  if count < limit then return true, count, 0 end
  count = count - redis.call('ZREMRANGEBYSCORE', key, '-inf', from)
  if count < limit or redis.call('ZSCORE', key, member) then return true, count, 0 end
  local leaving = redis.call('ZRANGE', key, count - limit, count - limit, 'WITHSCORES')
  return false, count, tonumber(leaving[2]) - from + 1
end

local function evaluate(axis)
  local limit, cost, member = tonumber(ARGV[3 * axis - 1]), tonumber(ARGV[3 * axis]), ARGV[3 * axis + 1]
  if member ~= '' then return distinct(KEYS[axis], limit, member) end
  return sum(KEYS[axis], limit, cost)
end

local function add(from_axis, to_axis)
  local slice = string.format('%d', math.floor(now / SLICE))
  for axis = from_axis, to_axis do
    local key, member = KEYS[axis], ARGV[3 * axis + 1]
    if member == '' then
      -- The key lives until the last slice has left the window, so a count in the same slice need not prolong that.
      local isNew = redis.call('HINCRBY', key, slice, ARGV[3 * axis]) == tonumber(ARGV[3 * axis])
      if isNew then redis.call('PEXPIRE', key, WINDOW + SLICE) end
    else
      local isNew = redis.call('ZADD', key, now, member) == 1
      if isNew then redis.call('ZREMRANGEBYSCORE', key, '-inf', from) end
      redis.call('PEXPIRE', key, WINDOW + SLICE)
    end
  end
end

local admitted, hits, reset, spare = 1, 0, 0, math.huge
for axis = 1, clients do
  local admits, count, wait = evaluate(axis)
  spare = math.min(spare, math.max(0, tonumber(ARGV[3 * axis - 1]) - count))
  -- A cost beyond the limit, in an empty window, uses all of it up.
  if axis == 1 then hits = math.min(count + tonumber(ARGV[3]), tonumber(ARGV[2])) end
  if not admits then
    if admitted == 1 then reset = 0 end
    admitted = 0
    hits = math.max(hits, tonumber(ARGV[2]) + 1)
    reset = math.max(reset, wait)
  elseif admitted == 1 and axis == 1 then
    reset = wait
  end
end
if admitted == 0 then return { 0, hits, reset, 0, spare, 0 } end
add(1, clients)
local refused, left, target_wait = 0, 0, 0
for axis = clients + 1, #KEYS do
  local admits, count, wait = evaluate(axis)
  if not admits and wait > target_wait then
    refused, left, target_wait = axis - clients, math.max(0, tonumber(ARGV[3 * axis - 1]) - count), wait
  end
end
if refused == 0 then
  add(clients + 1, #KEYS)
  if grant ~= '' then redis.call('SET', grant, '', 'PX', ${GRANT_MS}) end
end
return { 1, hits, reset, refused, left, target_wait }
`;

export const countScript = { lua, sha1: createHash('sha1').update(lua).digest('hex') } as const;

/** The script's arguments without the time. */
export function countArguments({ client, target, grant = '' }: Charge): readonly string[] {
  return [String(client.length), ...[...client, ...target].flatMap(axisArguments), grant];
}

function axisArguments({ limit, cost = 1, member = '' }: Axis): readonly string[] {
  return [String(limit), String(cost), member];
}

/** @throws TypeError for an unexpected reply */
export function readReply(reply: unknown): Count {
  if (!Array.isArray(reply) || reply.length !== 6 || !reply.every((part) => Number.isInteger(part))) {
    throw new TypeError('the rate limit script replied with something else');
  }
  const [admitted, hits, resetMs, refused, left, targetResetMs] = reply as [
    ...[number, number, number],
    ...[number, number, number],
  ];
  if (admitted === 0) return { admitted: false, hits, left, resetMs };
  const count = { admitted: true, hits, resetMs };
  return refused === 0 ? count : { ...count, refusedBy: { axis: refused - 1, left, resetMs: targetResetMs } };
}

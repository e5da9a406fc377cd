import { defineScript } from '../../redis/scripts.ts';

/*
 * Ledgers of the memory of completed checks (`{results}`) and of records of evicted checks (`{results}:removed`, with
 * the same keys). All keys are in one slot; `noteScript` and `forgetScript` keep the sums equal to their parts:
 *   {results}              sorted set of check ids by the time when they were added
 *   {results}:sizes        hash of check id → `<bytes> <client>`
 *   {results}:clients      sorted set of clients by the bytes of their checks
 *   {results}:of:<client>  sorted set of the ids of one client, by the same time
 *   {results}:bytes        bytes of all checks
 */

const ledger = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local all, sizes, clients, total = KEYS[1], KEYS[1] .. ':sizes', KEYS[1] .. ':clients', KEYS[1] .. ':bytes'

local function forget(id)
  local size = redis.call('HGET', sizes, id)
  redis.call('ZREM', all, id)
  if not size then return end
  local bytes, client = string.match(size, '^(%d+) (.*)$')
  redis.call('HDEL', sizes, id)
  redis.call('ZREM', KEYS[1] .. ':of:' .. client, id)
  redis.call('DECRBY', total, bytes)
  if tonumber(redis.call('ZINCRBY', clients, '-' .. bytes, client)) <= 0 then redis.call('ZREM', clients, client) end
end
`;

/** Limit of checks selected for removal at once. */
const MAX_VICTIMS = 64;

/**
 * Adds checks to the ledger, each once, and drops expired ones. Then selects checks for removal, oldest first: from
 * each of the largest clients its bytes beyond its share, and while the total is too large, its bytes beyond those of
 * the next largest. The newest check of a client is kept as long as there is room for all. Selected checks stay in the
 * ledger until `forgetScript`: if the coordinator dies in between, a later run selects them again. Runs when memory is
 * short, because the caller then frees memory. KEYS ledger. ARGV bytes of all, bytes of one client, retention of checks
 * (ms), then id, bytes and client of each. Returns the bytes of all, those of the largest client, then id and client of
 * each selected check.
 */
export const noteScript = defineScript(
  'allow-oom',
  `
${ledger}
local most, share, kept = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
for i = 4, #ARGV, 3 do
  local id, bytes, client = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if redis.call('HSETNX', sizes, id, bytes .. ' ' .. client) == 1 then
    redis.call('ZADD', all, now, id)
    redis.call('ZADD', KEYS[1] .. ':of:' .. client, now, id)
    redis.call('ZINCRBY', clients, bytes, client)
    redis.call('INCRBY', total, bytes)
    redis.call('PEXPIRE', KEYS[1] .. ':of:' .. client, kept)
  end
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', all, '-inf', now - kept, 'LIMIT', 0, 1000)) do forget(id) end
for _, key in ipairs({ all, sizes, clients, total }) do redis.call('PEXPIRE', key, kept) end

local sum = tonumber(redis.call('GET', total) or '0')
local bulkiest = redis.call('ZREVRANGE', clients, 0, 15, 'WITHSCORES')
local victims, left, over = {}, {}, sum - most
local function take(client, excess)
  local taken, ids = 0, redis.call('ZRANGE', KEYS[1] .. ':of:' .. client, 0, ${MAX_VICTIMS - 1})
  for i, id in ipairs(ids) do
    if taken >= excess or #victims >= ${MAX_VICTIMS} then break end
    -- One check that is larger than the share of a client can be read as long as there is room.
    if i == #ids and i < ${MAX_VICTIMS} and over - taken <= 0 then break end
    taken = taken + tonumber(string.match(redis.call('HGET', sizes, id) or '0 ', '^%d+'))
    victims[#victims + 1] = { id, client }
  end
  return taken
end
for i = 1, #bulkiest, 2 do
  local client, bytes = bulkiest[i], tonumber(bulkiest[i + 1])
  -- For the total, this client loses only as much as it has more than the next one, whose checks are kept until then.
  local following = tonumber(bulkiest[i + 3] or (#bulkiest == 32 and bytes or 0))
  local excess = math.max(bytes - share, math.min(over, math.max(1, bytes - following)))
  if excess > 0 then over = over - take(client, excess) end
end
local said = { sum, tonumber(bulkiest[2] or '0') }
for _, victim in ipairs(victims) do
  said[#said + 1] = victim[1]
  said[#said + 1] = victim[2]
end
return said
`,
);

/** Removes checks from the ledger. KEYS ledger. ARGV ids. */
export const forgetScript = defineScript(
  'allow-oom',
  `${ledger}\nfor _, id in ipairs(ARGV) do forget(id) end\nreturn 'OK'`,
);

/**
 * Removes a completed check with its results and screenshot. A record with the reason stays until the check would have
 * expired or `dropScript` runs. KEYS check, results, partials. ARGV the reason. Returns 0 if the check is unknown,
 * incomplete or evicted, else the digest of its idempotency key or ''.
 */
export const evictScript = defineScript(
  'allow-oom',
  `
local check = redis.call('HMGET', KEYS[1], 'completedAt', 'type', 'shot', 'first')
if not check[1] then return 0 end
local ttl = math.max(redis.call('PTTL', KEYS[1]), 1)
local isTaken, shot = pcall(cjson.decode, check[3] or '')
if isTaken and type(shot) == 'table' and type(shot.probe) == 'string' then
  redis.call('DEL', KEYS[1] .. ':b:' .. shot.probe)
end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
redis.call('HSET', KEYS[1], 'type', check[2], 'evicted', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ttl)
return check[4] or ''
`,
);

/** KEYS check. Removes the record only if the check was evicted. */
export const dropScript = defineScript(
  'allow-oom',
  `if redis.call('HEXISTS', KEYS[1], 'evicted') == 1 then redis.call('DEL', KEYS[1]) end\nreturn 'OK'`,
);

export const resultBudgetScripts = [noteScript, forgetScript, evictScript, dropScript] as const;

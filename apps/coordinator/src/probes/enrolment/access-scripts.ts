import { defineScript } from '../../redis/scripts.ts';

/*
 * Every script has the keys access and changes first, and for each change of the access adds a stream entry and
 * publishes a message. All keys share one hash tag. Times are those of the clock of Redis.
 */

const shared = `
local access_key, changes = KEYS[1], KEYS[2]
local probe, channel = ARGV[1], ARGV[2]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local text = redis.call('HGET', access_key, probe)
local access = text and cjson.decode(text) or nil
local function announce()
  redis.call('XADD', changes, 'MAXLEN', '~', 4096, '*', 'probe', probe)
  redis.call('PUBLISH', channel, probe)
end
local function save()
  redis.call('HSET', access_key, probe, cjson.encode(access))
  announce()
end
`;

/** A counter that is more than this below the highest counts as that of a copied key, not of a delayed connection. */
const OVERTAKEN_BY = 4;
/** Consecutive connections with a lower counter that are tolerated; one more counts as that of a copied key. */
const OVERTAKEN_TIMES = 2;
/** Counters remembered per key. */
const COUNTERS_KEPT = 8;

/**
 * Admits a connection whose signature was verified: binds the key if the token allows it, and records the counter. Only
 * an agent with the key of the probe or a valid token learns that the probe is suspended.
 *
 * KEYS access, changes, key, counters, invitations. ARGV probe, channel, public key, fingerprint, counter, digest of
 * the token or '', address, place of the address (JSON). Returns refusal or '', state, '1' if the key was bound by this
 * call, number of suspensions.
 */
export const admitScript = defineScript(
  '',
  `${shared}
local key, counters, invitations = KEYS[3], KEYS[4], KEYS[5]
local public, fingerprint, counter, digest = ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
local suspended = access and access.state == 'suspended'
local bound = redis.call('HGET', key, 'publicKey')
local enrolled = ''
if bound == public then
  if suspended then return { 'suspended', '', '' } end
else
  local json = digest ~= '' and redis.call('HGET', invitations, digest)
  if not json then
    if digest ~= '' then return { 'token-invalid', '', '' } end
    return { bound and 'unknown-key' or 'unknown-probe', '', '' }
  end
  local invitation = cjson.decode(json)
  if invitation.expiresAt <= now then return { 'token-expired', '', '' } end
  if invitation.left < 1 then return { 'token-used', '', '' } end
  if suspended then return { 'suspended', '', '' } end
  invitation.left = invitation.left - 1
  redis.call('HSET', invitations, digest, cjson.encode(invitation))
  redis.call('DEL', key, counters)
  redis.call('HSET', key, 'publicKey', public, 'enrolledAt', now)
  local suspensions = access and access.suspensions
  access = { state = invitation.approve and 'waiting' or 'approved', key = fingerprint, suspensions = suspensions }
  enrolled = '1'
  save()
end
if not access then return { 'unknown-probe', '', '' } end
local highest = tonumber((redis.call('ZREVRANGE', counters, 0, 0))[1] or '0')
if counter <= highest then
  local overtaken = redis.call('HINCRBY', key, 'overtaken', 1)
  local was_used = redis.call('ZSCORE', counters, ARGV[5])
  if was_used or highest - counter > ${OVERTAKEN_BY} or overtaken > ${OVERTAKEN_TIMES} then
    redis.call('HSET', key, 'copyAddress', ARGV[7], 'copyAt', now)
    access.copied = { at = now, counter = counter }
    save()
    return { 'copied-key', '', '' }
  end
  redis.call('ZADD', counters, counter, ARGV[5])
  return { 'stale-counter', '', '' }
end
redis.call('ZADD', counters, counter, ARGV[5])
redis.call('ZREMRANGEBYRANK', counters, 0, -1 - ${COUNTERS_KEPT})
redis.call('HSET', key, 'address', ARGV[7], 'place', ARGV[8], 'connectedAt', now, 'overtaken', 0)
return { '', access.state, enrolled, access.suspensions or 0 }`,
);

/**
 * Writes an invitation, to which it adds `expiresAt`, and removes expired ones; a probe without a state becomes
 * `invited`. KEYS access, changes, invitations. ARGV probe, channel, digest, invitation (JSON), its lifetime (ms).
 * Returns `expiresAt`, milliseconds since the epoch.
 */
export const inviteScript = defineScript(
  '',
  `${shared}
local invitations = KEYS[3]
local invitation = cjson.decode(ARGV[4])
invitation.expiresAt = now + tonumber(ARGV[5])
local all = redis.call('HGETALL', invitations)
local last = invitation.expiresAt
for index = 1, #all, 2 do
  local known = cjson.decode(all[index + 1])
  if known.expiresAt <= now then redis.call('HDEL', invitations, all[index]) end
  if known.expiresAt > last then last = known.expiresAt end
end
redis.call('HSET', invitations, ARGV[3], cjson.encode(invitation))
-- An hour longer: an agent that comes late is answered that its token has expired.
redis.call('PEXPIREAT', invitations, string.format('%.0f', last + 3600000))
if not access then
  access = { state = 'invited' }
  save()
end
return string.format('%.0f', invitation.expiresAt)`,
);

/**
 * Changes the state of an agent, even if a flood of its keys has used up the memory. KEYS access, changes, key,
 * counters. ARGV probe, channel, change (approve, suspend, resume, refuse), text. Returns the state before, '' if there
 * was none.
 */
export const changeScript = defineScript(
  'allow-oom',
  `${shared}
local key, counters = KEYS[3], KEYS[4]
local change, reason = ARGV[3], ARGV[4]
if not access then return '' end
local before = access.state
if change == 'approve' and before == 'waiting' then
  access.state = 'approved'
elseif change == 'suspend' then
  if before ~= 'suspended' then access.before = before end
  access.state = 'suspended'
  access.suspensions = (access.suspensions or 0) + 1
  access.reason = reason
elseif change == 'resume' then
  if before == 'suspended' then access.state = access.before or 'approved' end
  access.before = nil
  access.reason = nil
  -- The operator says that the key is in one place: whichever counter comes next is right.
  if access.copied then redis.call('DEL', counters) end
  access.copied = nil
elseif change == 'refuse' then
  local wanted = reason ~= '' and reason or nil
  if access.refusal == wanted then return before end
  access.refusal = wanted
else
  return before
end
save()
return before`,
);

/**
 * Removes key, state and invitations of an agent. KEYS access, changes, key, counters, invitations. ARGV probe,
 * channel. Returns 1 if there was something.
 */
export const forgetScript = defineScript(
  'allow-oom',
  `${shared}
local removed = redis.call('HDEL', access_key, probe) + redis.call('DEL', KEYS[3], KEYS[4], KEYS[5])
announce()
return removed > 0 and 1 or 0`,
);

export const enrolmentScripts = [admitScript, inviteScript, changeScript, forgetScript] as const;

import { defineScript } from '../../redis/scripts.ts';
import { completion, timeOfWriting } from '../store/check-scripts.ts';

/*
 * The screenshot of a check has fields of its own in the record, where the check wants one:
 *   shot        '' while a probe is at it, then what became of it as JSON; changes once, and then counts `pending` down
 *   shotAsked   the probes that were asked, in order, by commas; the last is at it
 *   shotParams  what it is to show, JSON; shotReason  why the probe before failed, JSON: both until it is settled
 */

/** Whether a probe's word about a screenshot still counts. Without a probe: whether it is to be settled at all. */
const standing = `
${timeOfWriting}
local function standingOf(probe, writtenAt)
  local deadline = tonumber(redis.call('HGET', KEYS[1], 'deadlineAt') or '')
  if not deadline then return 'unknown', '' end
  local asked = redis.call('HGET', KEYS[1], 'shotAsked')
  if not asked then return 'foreign', '' end
  local current = string.match(asked, '[^,]*$')
  if probe ~= '' and not string.find(',' .. asked .. ',', ',' .. probe .. ',', 1, true) then
    return 'foreign', current
  end
  if timeOfWriting(writtenAt) > deadline then return 'late', current end
  if redis.call('HGET', KEYS[1], 'shot') ~= '' then return 'duplicate', current end
  return 'applied', current
end

local function settle(shot, probe)
  redis.call('HSET', KEYS[1], 'shot', shot)
  redis.call('HDEL', KEYS[1], 'shotParams', 'shotReason')
  local pending = redis.call('HINCRBY', KEYS[1], 'pending', -1)
  local version = redis.call('HINCRBY', KEYS[1], 'v', 1)
  local of = ''
  if probe ~= '' then
    of = ',"probe":"' .. probe .. '"'
    redis.call('HSET', KEYS[1], 'v:' .. probe, version)
  end
  redis.call('PUBLISH', KEYS[1] .. ':ev', '{"version":' .. version .. of .. ',"kind":"screenshot"}')
  return pending
end
`;

/**
 * Keeps the picture, of whichever probe that was asked it comes from first. Not run when memory is short: a check can do
 * without.
 *
 * KEYS check, results, partials, picture. ARGV retention (ms), time at which it was written (ms; 0: in time), 1 to be told
 * the check, probe, PNG, what became of it as JSON. Returns as `settleScript` whether the check is completed by this, its hashes, a word,
 * the probe that was at it.
 */
export const keepScreenshotScript = defineScript(
  '',
  `
${standing}
local said = {0, {}}
local pending
said[3], said[4] = standingOf(ARGV[4], tonumber(ARGV[2]))
if said[3] == 'applied' then
  redis.call('SET', KEYS[4], ARGV[5], 'PX', math.max(redis.call('PTTL', KEYS[1]), 1))
  pending = settle(ARGV[6], ARGV[4])
end
${completion}`,
);

/**
 * Settles that there is no picture.
 *
 * KEYS check, results, partials. ARGV retention (ms), time at which the failure was written (ms; 0: in time), 1 to be told
 * the check, the probe that has to be at it ('': whichever it is), what became of it as JSON. Returns as above; the word is
 * `duplicate` where another probe is at it.
 */
export const giveUpScreenshotScript = defineScript(
  'allow-oom',
  `
${standing}
local said = {0, {}}
local pending
said[3], said[4] = standingOf(ARGV[4], tonumber(ARGV[2]))
if said[3] == 'applied' and ARGV[4] ~= '' and ARGV[4] ~= said[4] then said[3] = 'duplicate' end
if said[3] == 'applied' then pending = settle(ARGV[5], '') end
${completion}`,
);

/**
 * Asks the next probe. KEYS check. ARGV time at which the failure was written (ms; 0: in time), the probe that has to be at
 * it, the next, why the first failed as JSON. Returns a word, and what the picture is to show as JSON.
 */
export const handOverScreenshotScript = defineScript(
  'allow-oom',
  `
${standing}
local word, current = standingOf(ARGV[2], tonumber(ARGV[1]))
if word ~= 'applied' then return { word, '' } end
if current ~= ARGV[2] then return { 'duplicate', '' } end
redis.call('HSET', KEYS[1], 'shotAsked', redis.call('HGET', KEYS[1], 'shotAsked') .. ',' .. ARGV[3], 'shotReason', ARGV[4])
return { 'applied', redis.call('HGET', KEYS[1], 'shotParams') or '' }
`,
);

export const screenshotScripts = [keepScreenshotScript, giveUpScreenshotScript, handOverScreenshotScript] as const;

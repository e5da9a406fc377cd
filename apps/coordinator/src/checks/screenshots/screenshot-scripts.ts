import { defineScript } from '../../redis/scripts.ts';
import { completion, isLate } from '../store/records/check-scripts.ts';

/*
 * Fields of the record of a check that requests a screenshot; only `shot` if no probe could take one at the start:
 *   shot        '' while pending, then the outcome as JSON; the change decrements `pending`
 *   shotAsked   the probes that were asked, in order, separated by commas; the last one is taking it
 *   shotParams  parameters of the screenshot as JSON, while pending
 *   shotReason  failure of the previous probe as JSON, while pending
 */

/**
 * Lua functions. `standingOf` returns the status of an update of the screenshot by a probe ('': by any), which is
 * `applied` if the update counts, and the probe that is taking the screenshot. `settle` writes the outcome and returns
 * how many results and screenshots are pending.
 */
const standing = `
${isLate}
local function standingOf(probe, writtenAt)
  local deadline = tonumber(redis.call('HGET', KEYS[1], 'deadlineAt') or '')
  if not deadline then return 'unknown', '' end
  local asked = redis.call('HGET', KEYS[1], 'shotAsked')
  if not asked then return 'foreign', '' end
  local current = string.match(asked, '[^,]*$')
  if probe ~= '' and not string.find(',' .. asked .. ',', ',' .. probe .. ',', 1, true) then
    return 'foreign', current
  end
  if isLate(writtenAt, deadline) then return 'late', current end
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
 * Stores the image of the first asked probe that delivers it. Not run when memory is short: screenshots are optional.
 * KEYS check, results, partials, image. ARGV retention (ms), time of the entry (ms; 0: in time), 1 to return the check,
 * probe, PNG, outcome as JSON. Returns the same first two values as `writeFinalsScript`, then a status and the probe that
 * was taking the screenshot.
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
 * Records that there is no screenshot.
 * KEYS check, results, partials. ARGV retention (ms), time of the failure (ms; 0: in time), 1 to return the check, the
 * probe that must be taking it ('' for any), outcome as JSON. Returns like `keepScreenshotScript`; the status is
 * `duplicate` if another probe is taking it.
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
 * Records that the next probe takes the screenshot. KEYS check. ARGV time of the failure (ms; 0: in time), the probe
 * that must be taking it so far, the next probe, failure of the previous probe as JSON. Returns a status, and the
 * parameters of the screenshot as JSON.
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

import { pendingResult, redisKeys, type Check, type PublicRequest, type Screenshot } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { defineScript, runScript } from '../../redis/scripts.ts';
import { CheckEvicted } from '../../redis/store-errors.ts';
import { readEmptyLocations } from './records/check-records.ts';
import type { ProbeState } from './probe-state.ts';
import { fromStored } from './stored-json.ts';

/**
 * Reads what changed since a version. KEYS check, results, partials. ARGV a version. Returns nothing if there is no
 * such check; '' and the reason if it was evicted; else its version and, if that differs, the fields of the check and
 * the name, version, final and partial result of each changed probe. If the given version is ahead, Redis has lost
 * data, and all probes count as changed.
 */
export const changesScript = defineScript(
  'no-writes',
  `
local version = redis.call('HGET', KEYS[1], 'v')
if not version then
  local evicted = redis.call('HGET', KEYS[1], 'evicted')
  return evicted and { '', evicted } or false
end
local since = tonumber(ARGV[1])
if tonumber(version) == since then return { version } end
if tonumber(version) < since then since = -1 end
local fields = redis.call('HGETALL', KEYS[1])
local versions, probes = {}, ''
for i = 1, #fields, 2 do
  if string.sub(fields[i], 1, 2) == 'v:' then versions[string.sub(fields[i], 3)] = fields[i + 1] end
  if fields[i] == 'probes' then probes = fields[i + 1] end
end
local changed = {}
for probe in string.gmatch(probes, '[^,]+') do
  local at = versions[probe] or '0'
  if tonumber(at) > since then
    changed[#changed + 1] = probe
    changed[#changed + 1] = at
    changed[#changed + 1] = redis.call('HGET', KEYS[2], probe) or ''
    changed[#changed + 1] = redis.call('HGET', KEYS[3], probe) or ''
  end
end
return { version, fields, changed }
`,
);

/** The version of a check and, if it differs from a known one, its fields and what changed of its probes. */
export interface Changes {
  readonly version: number;
  /** Undefined if nothing changed. */
  readonly changed?: {
    readonly check: Omit<Check, 'results'>;
    /** States of the changed probes, in the order of selection. */
    readonly states: readonly ProbeState[];
  };
}

/**
 * @param since the version that is known; -1 for none
 * @returns undefined if there is no such check
 * @throws CheckEvicted
 */
export async function readChanges(redis: Redis, id: string, since: number): Promise<Changes | undefined> {
  const keys = [redisKeys.check(id), redisKeys.checkResults(id), redisKeys.checkPartials(id)];
  const reply = (await runScript(redis, changesScript, keys, [since])) as
    | readonly [version: string, fields?: readonly string[] | string, changed?: readonly string[]]
    | null;
  if (reply === null) return undefined;
  const [version, fields, changed] = reply;
  if (typeof fields === 'string') throw new CheckEvicted(fields);
  if (fields === undefined || changed === undefined) return { version: Number(version) };
  const record = new Map<string, string>();
  for (let index = 0; index + 1 < fields.length; index += 2) record.set(fields[index]!, fields[index + 1]!);
  return {
    version: Number(version),
    changed: { check: checkOf(id, record), states: statesOf(changed, screenshotOf(record.get('shot'))) },
  };
}

function checkOf(id: string, fields: ReadonlyMap<string, string>): Omit<Check, 'results'> {
  const completedAt = fields.get('completedAt');
  return {
    testId: id,
    type: fields.get('type') ?? '',
    host: fields.get('host') ?? '',
    ...(fields.has('between') ? { between: fields.get('between')!.split(',') } : {}),
    ...(fields.has('emptyLocations') ? { emptyLocations: readEmptyLocations(fields)! } : {}),
    ...(fields.has('request') ? { request: JSON.parse(fields.get('request')!) as PublicRequest } : {}),
    status: completedAt === undefined ? 'pending' : 'completed',
    createdAt: new Date(Number(fields.get('createdAt'))).toISOString(),
    completedAt: completedAt === undefined ? null : new Date(Number(completedAt)).toISOString(),
  };
}

/** The probe that took the check's screenshot; undefined if none did. */
function screenshotOf(shot = ''): string | undefined {
  if (shot === '') return undefined;
  const { state, probe } = JSON.parse(shot) as Screenshot;
  return state === 'taken' ? (probe ?? undefined) : undefined;
}

function statesOf(flat: readonly string[], picture: string | undefined): readonly ProbeState[] {
  const states: ProbeState[] = [];
  for (let index = 0; index + 3 < flat.length; index += 4) {
    const [probe = '', version = '', final = '', partial = ''] = flat.slice(index, index + 4);
    const json = final === '' ? pendingJson(partial) : fromStored(final);
    states.push({ probe, version: Number(version), json, hasScreenshot: probe === picture });
  }
  return states;
}

const PENDING = JSON.stringify(pendingResult);

/** @param partial '<version> <stream id> <JSON>', or empty */
function pendingJson(partial: string): string {
  const json = partial.slice(partial.indexOf(' ', partial.indexOf(' ') + 1) + 1);
  return json === '' || json === '{}' ? PENDING : `${PENDING.slice(0, -1)},${json.slice(1)}`;
}

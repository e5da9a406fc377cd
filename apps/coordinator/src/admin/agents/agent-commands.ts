import { randomBytes } from 'node:crypto';

import { enrolmentToken, escapeText, redisKeys, type Place, type ProbeRecord } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { switchOffUser } from '../../probes/access/switch-off.ts';
import { withdrawJobs } from '../../probes/access/withdraw-jobs.ts';
import { suspendedFailure } from '../../probes/access/withdrawal.ts';
import { forgetScript, inviteScript } from '../../probes/enrolment/access-scripts.ts';
import { changeAccess } from '../../probes/enrolment/change-access.ts';
import { readAccess } from '../../probes/enrolment/agent-access.ts';
import { digestOf } from '../../probes/enrolment/verify-signature.ts';
import { isLoopback } from '../../probes/announced-url.ts';
import { writeMetricsAddress } from '../../probes/metrics-addresses.ts';
import type { ProbeRecords } from '../../probes/registry/probe-records.ts';
import { runScript } from '../../redis/scripts.ts';
import type { Invite } from '../arguments/arguments.ts';
import type { AdminConfig } from '../config.ts';
import { invitationCommands } from '../invitation.ts';
import type { AdminResult } from '../output.ts';

/** Dependencies of commands that need no administrator rights in Redis. */
export interface AgentCommandDependencies {
  readonly redis: Redis;
  readonly records: ProbeRecords;
  readonly config: AdminConfig;
}

/** Writes the record, if one is given, before the invitation: a printed token always belongs to a recorded probe. */
export async function invite(
  { redis, records, config }: AgentCommandDependencies,
  given: Invite,
): Promise<AdminResult> {
  const { id, record, uses, lifeMs, waits, metrics } = given;
  const announced = (await redis.get(redisKeys.serviceUrl)) ?? undefined;
  const url = given.url ?? config.publicUrl ?? announced;
  if (url === undefined) {
    throw new Error('the address of the service is not known: set --url or PUBLIC_URL, or start a coordinator');
  }
  if (record !== undefined) await records.write(record);
  else if ((await recordOf(records, id)) === undefined) {
    throw new Error(`there is no probe ${id}: its record needs --name, --datacenter, --country, --isp and --asn`);
  }
  if (metrics !== undefined) await writeMetricsAddress(redis, id, metrics);
  const token = enrolmentToken(id, randomBytes(32).toString('base64url'));
  const expiresAt = await runScript(
    redis,
    inviteScript,
    [redisKeys.agentAccess, redisKeys.agentChanges, redisKeys.invitations(id)],
    [id, redisKeys.agentChanged, digestOf(token), JSON.stringify({ left: uses, approve: waits }), lifeMs],
  );
  const until = new Date(Number(expiresAt)).toISOString();
  const commands = invitationCommands(id, url, token, config.agentImage);
  return {
    done: true,
    warnings: [...originFaults(url, announced), ...loopbackFaults(url)],
    said: [
      ...(record === undefined ? [] : [`Probe ${id} is recorded.`]),
      `The token enrols ${uses === 1 ? 'one agent' : `${uses} keys, one after the other,`} until ${until}. It is printed once.`,
      ...(waits ? [`The agent then waits for probe:approve ${id}.`] : []),
    ],
    data: { token, url, expiresAt: until, commands },
    lines: [
      `VANTAGE_TOKEN=${token}`,
      '',
      '# In a container:',
      commands.container,
      '',
      '# On a bare host, in a checkout after "npm run setup":',
      commands.bareHost,
    ],
  };
}

/**
 * Warns of an address with another origin than `PUBLIC_URL`: agents sign the former, and gateways compare it with the
 * latter.
 */
function originFaults(url: string, announced: string | undefined): readonly string[] {
  if (announced === undefined || new URL(url).origin === new URL(announced).origin) return [];
  return [
    `gateways refuse agents with the address ${url} (bad-signature): PUBLIC_URL of the coordinators is ${announced}, ` +
      'and scheme, host and port must be the same.',
  ];
}

/** Warns of an address that leads an agent on another machine to that machine. */
function loopbackFaults(url: string): readonly string[] {
  if (!isLoopback(new URL(url).hostname)) return [];
  return [
    `${url} is this machine for agents on it, and none for others: for these set PUBLIC_URL of the coordinators to the ` +
      'address of a proxy that agents reach by HTTPS.',
  ];
}

/**
 * Approves an agent. With `usePlace` its record gets the location and the network that the geo data has for the agent's
 * address; without it, a difference is only reported.
 */
export async function approve(
  { redis, records }: AgentCommandDependencies,
  id: string,
  usePlace: boolean,
): Promise<AdminResult> {
  const before = await changeAccess(redis, id, 'approve');
  if (before === '') return none(id);
  const seen = await redis.hgetall(redisKeys.agentKey(id));
  const place = readPlace(seen['place']);
  const record = await recordOf(records, id);
  const suggested = record === undefined ? undefined : withPlace(record, place);
  const said = [
    before === 'waiting'
      ? `The agent of ${id} is approved.`
      : `The agent of ${id} does not wait for approval: ${before}.`,
  ];
  if (usePlace && suggested !== undefined) {
    await records.write(suggested);
    said.push(`Its record has the place ${describePlace(suggested)}.`);
  } else if (suggested !== undefined && describePlace(suggested) !== describePlace(record!)) {
    said.push(
      `Its address ${seen['address']} is in ${describePlace(suggested)} by the geo data; its record says ` +
        `${describePlace(record!)}. probe:approve ${id} --use-place changes the record.`,
    );
  }
  return { said, warnings: [], done: before === 'waiting' || (usePlace && suggested !== undefined) };
}

/** Suspends a probe. If this login may not disable its Redis user, a coordinator does so. */
export async function suspend(
  { redis, records }: AgentCommandDependencies,
  id: string,
  reason: string,
): Promise<AdminResult> {
  if ((await recordOf(records, id)) === undefined) return none(id);
  const text = reason === '' ? 'Suspended by its operator.' : `Suspended by its operator: ${reason}`;
  await redis.hset(redisKeys.suspended, id, text);
  await changeAccess(redis, id, 'suspend', text);
  await switchOffUser(redis, id);
  // Jobs are withdrawn last: until the suspension is in effect, the agent can take further jobs.
  await withdrawJobs(redis, id, suspendedFailure(text));
  return { said: [`Probe ${id} is suspended until probe:resume ${id}.`], warnings: [], done: true };
}

/** @returns true if the probe was suspended or its key was reported as copied */
export async function resume(redis: Redis, id: string): Promise<boolean> {
  const access = readAccess(await redis.hget(redisKeys.agentAccess, id));
  const wasNoted = await redis.hdel(redisKeys.suspended, id);
  await changeAccess(redis, id, 'resume');
  return wasNoted === 1 || access.state === 'suspended' || access.copied !== null;
}

/** Removes key, invitations and state of an agent, and ends its connection. False if there was nothing to remove. */
export async function forgetAgent(redis: Redis, id: string): Promise<boolean> {
  const keys = [redisKeys.agentKey(id), redisKeys.agentCounters(id), redisKeys.invitations(id)];
  const removed = await runScript(
    redis,
    forgetScript,
    [redisKeys.agentAccess, redisKeys.agentChanges, ...keys],
    [id, redisKeys.agentChanged],
  );
  return removed === 1;
}

async function recordOf(records: ProbeRecords, id: string): Promise<ProbeRecord | undefined> {
  return (await records.list()).find((record) => record.id === id);
}

type SeenPlace = Partial<Pick<Place, 'countryCode' | 'city' | 'latitude' | 'longitude' | 'isp' | 'asn'>>;

/** @param json the location of an agent's address by the geo data */
export function readPlace(json: string | undefined): SeenPlace | undefined {
  return json === undefined ? undefined : (JSON.parse(json) as SeenPlace);
}

/** The record with location and network of the agent's address; undefined if the geo data has no country for it. */
function withPlace(record: ProbeRecord, place: SeenPlace | undefined): ProbeRecord | undefined {
  if (typeof place?.countryCode !== 'string') return undefined;
  const { countryCode, city = null, latitude = null, longitude = null, isp, asn } = place;
  const network = {
    isp: isp === undefined || isp === null ? record.isp : escapeText(isp, 128),
    asNumber: asn ?? record.asNumber,
  };
  return {
    ...record,
    countryCode,
    city: city === null ? null : escapeText(city, 128),
    latitude,
    longitude,
    ...network,
  };
}

function describePlace({ city, countryCode, isp, asNumber }: ProbeRecord): string {
  return `${city === null ? '' : `${city}, `}${countryCode}, ${isp}, ${asNumber}`;
}

function none(id: string): AdminResult {
  return { said: [`There is no enrolled agent of a probe ${id}.`], warnings: [], done: false };
}

import { agentUser, redisKeys } from '@vantage/contract';
import { openOnce, parseRedisUrl } from '@vantage/redis-connections';

import { closeAll } from '../redis/connections.ts';
import { approve, forgetAgent, invite, resume, suspend } from './agents/agent-commands.ts';
import { readArguments, type AdminCommand } from './arguments/arguments.ts';
import { usageOf } from './arguments/options.ts';
import type { AdminConfig } from './config.ts';
import { addProbe, rotatePassword } from './credentials/credentials.ts';
import { outcome, type AdminParts } from './credentials/outcome.ts';
import { offer } from './agents/offer-addresses.ts';
import { setMetricsAddress } from './agents/set-metrics-address.ts';
import { listRecords } from './list-records.ts';
import { showFault, showResult, type AdminResult, type AdminStreams } from './output.ts';
import { agreedUser, currentUser, noneDid, removeUser, writeUser } from '../probes/access/redis-users.ts';
import { withdrawJobs } from '../probes/access/withdraw-jobs.ts';
import { removedFailure } from '../probes/access/withdrawal.ts';
import { writeMetricsAddress } from '../probes/metrics-addresses.ts';
import { createProbeRecords } from '../probes/registry/probe-records.ts';
import { createProbeValidators, type ProbeValidators } from '../probes/registry/probe-validators.ts';
import { mastersAmong, openRedisNodes } from '../probes/access/redis-nodes.ts';
import { ensureTls, readCa } from './tls/tls-folder.ts';

/**
 * Runs an operator command on probes and the Redis users of their agents.
 *
 * @param args the command (`invite`, `approve`, `offer`, `metrics`, `suspend`, `resume`, `add`, `rotate`, `enable`,
 * `remove`, `list`, `tls`) and its arguments
 * @returns the exit code: 0 success, 1 if a part failed or there is no such probe, user or agent, 2 invalid arguments
 */
export async function runProbeAdmin(
  args: readonly string[],
  config: AdminConfig,
  streams: AdminStreams,
): Promise<number> {
  const validators = createProbeValidators();
  const read = readArguments(args, validators);
  if ('faults' in read) {
    for (const line of [...read.faults, usageOf(args)]) streams.err(line);
    return 2;
  }
  const { given } = read;
  try {
    const result = await runGiven(given, config, validators);
    return showResult(result, given.json, streams);
  } catch (error) {
    showFault(error, config, streams);
    return 1;
  }
}

async function runGiven(given: AdminCommand, config: AdminConfig, validators: ProbeValidators): Promise<AdminResult> {
  if (given.command === 'tls') return makeTls(given, config);
  return isOnRecords(given) ? onRecords(given, config, validators) : onRedis(given, config, validators);
}

function isOnRecords(given: AdminCommand): given is OnRecords {
  return (
    given.command === 'invite' ||
    given.command === 'approve' ||
    given.command === 'offer' ||
    given.command === 'metrics' ||
    given.command === 'suspend'
  );
}

/** Runs commands that need no administrator rights in Redis, on one connection. */
async function onRecords(given: OnRecords, config: AdminConfig, validators: ProbeValidators): Promise<AdminResult> {
  const certificates = config.certificates ?? readCa(config.tlsFolder);
  const redis = await openOnce({ url: config.redisUrl, certificates, name: 'vantage:probe-admin' });
  try {
    const parts = { redis, config, records: createProbeRecords(redis, validators) };
    if (given.command === 'invite') return await invite(parts, given);
    if (given.command === 'approve') return await approve(parts, given.id, given.usePlace);
    if (given.command === 'offer') return await offer(parts, given);
    if (given.command === 'metrics') return await setMetricsAddress(parts, given);
    return await suspend(parts, given.id, given.reason);
  } finally {
    await closeAll([redis]);
  }
}

async function makeTls(
  { hosts: named, renew }: Given<'tls'>,
  { agentRedisUrl, tlsFolder }: AdminConfig,
): Promise<AdminResult> {
  const known = agentRedisUrl === undefined ? [] : parseRedisUrl(agentRedisUrl).endpoints.map(({ host }) => host);
  const wanted = [...new Set([...named, ...known])];
  if (wanted.length === 0 && readCa(tlsFolder) === undefined) {
    throw new Error('No --host says what the certificate of Redis is for, nor does AGENT_REDIS_URL');
  }
  const { made, hosts, validUntil } = await ensureTls(tlsFolder, { hosts: wanted, renew });
  const until = validUntil.toISOString().slice(0, 10);
  const what = made.length === 0 ? 'Nothing was to be made' : `Made: ${made.join(' and ')}`;
  const said = [`${what} in ${tlsFolder}. The certificate of Redis is for ${hosts.join(', ')} until ${until}.`];
  return { said, warnings: [], done: true, data: { made, hosts, validUntil } };
}

type Given<Command extends AdminCommand['command']> = Extract<AdminCommand, { readonly command: Command }>;
type OnRecords = Given<'invite'> | Given<'approve'> | Given<'offer'> | Given<'metrics'> | Given<'suspend'>;
type OnRedis = Exclude<AdminCommand, OnRecords | { readonly command: 'tls' }>;

async function onRedis(given: OnRedis, config: AdminConfig, validators: ProbeValidators): Promise<AdminResult> {
  const certificates = config.certificates ?? readCa(config.tlsFolder);
  const { close, ...nodes } = await openRedisNodes({ url: config.redisUrl, listed: config.nodes, certificates });
  try {
    if (nodes.limited && needsUsers(given)) {
      throw new Error('REDIS_URL has a login that may not write Redis users; probe:invite needs no such rights');
    }
    const masters = nodes.limited ? undefined : await mastersAmong(nodes.nodes);
    const records = createProbeRecords(nodes.redis, validators, masters && (() => masters));
    return await runCommand(given, { ...nodes, records, config });
  } finally {
    await close();
  }
}

function needsUsers(given: OnRedis): boolean {
  return given.command === 'rotate' || given.command === 'enable' || (given.command === 'add' && !given.recordOnly);
}

async function runCommand(given: OnRedis, parts: AdminParts): Promise<AdminResult> {
  switch (given.command) {
    case 'add':
      return add(parts, given);
    case 'rotate':
      return rotatePassword(parts, given.id, given.manner, given);
    case 'enable':
      return enable(parts, given.id);
    case 'resume':
      return endSuspension(parts, given.id);
    case 'remove':
      return remove(parts, given.id);
    case 'list':
      return listRecords(parts);
    default:
      return given satisfies never;
  }
}

async function add(parts: AdminParts, given: Given<'add'>): Promise<AdminResult> {
  const { record, metrics } = given;
  if (given.recordOnly) await parts.records.write(record);
  const result = given.recordOnly
    ? { said: [`Probe ${record.id} is recorded.`], warnings: [], done: true }
    : await addProbe(parts, record, given);
  if (result.done && metrics !== undefined) await writeMetricsAddress(parts.redis, record.id, metrics);
  return result;
}

async function enable(parts: AdminParts, id: string): Promise<AdminResult> {
  const user = await agreedUser(parts.nodes, id);
  if (user === undefined) return { said: [`There is no Redis user of a probe ${id}.`], warnings: [], done: false };
  // Deletes the suspension first: while it is recorded, coordinators disable the user again.
  await parts.redis.hdel(redisKeys.suspended, id);
  const nodes = await writeUser(parts.nodes, id, { ...user, on: true }, parts);
  const said = noneDid(nodes) ? `The user of ${id} is as it was.` : `The user of ${id} is switched on.`;
  return { said: [said], ...(await outcome(parts, nodes, [])) };
}

/** Resumes a suspended probe and enables its Redis user, if it has one and this login may change users. */
async function endSuspension(parts: AdminParts, id: string): Promise<AdminResult> {
  const user = parts.limited ? undefined : await agreedUser(parts.nodes, id);
  const wasSuspended = await resume(parts.redis, id);
  if (user !== undefined) {
    const enabled = await enable(parts, id);
    return { ...enabled, said: [`Probe ${id} is resumed.`, ...enabled.said] };
  }
  if (!wasSuspended) return { said: [`Probe ${id} is not suspended.`], warnings: [], done: false };
  return { said: [`Probe ${id} is resumed.`], warnings: limits(parts, id), done: true };
}

/**
 * Removes a probe: first the agent's key and, if this login may, its Redis user, so that the agent no longer writes to
 * the probe's keys; then its waiting jobs and its record.
 */
async function remove(parts: AdminParts, id: string): Promise<AdminResult> {
  const hadAgent = await forgetAgent(parts.redis, id);
  const hadUser = !parts.limited && (await currentUser(parts.nodes, id)) !== undefined;
  const nodes = hadUser || !hadAgent ? await removeUser(parts.nodes, id) : [];
  await withdrawJobs(parts.redis, id, removedFailure());
  const hadRecord = await parts.records.remove(id);
  if (!hadUser && !hadAgent && !hadRecord) {
    return { said: [`There is no probe ${id}.`], warnings: [], done: false };
  }
  const said = [`Probe ${id} is removed.`];
  if (parts.limited) return { said, warnings: hadAgent ? [] : limits(parts, id), done: true };
  if (hadAgent && !hadUser) return { said, warnings: [], done: true };
  return { said, ...(await outcome(parts, nodes, [])) };
}

function limits({ limited }: AdminParts, id: string): readonly string[] {
  if (!limited) return [];
  return [
    `This login may not read Redis users: if ${agentUser(id)} exists, an administrator of Redis has to change it.`,
  ];
}

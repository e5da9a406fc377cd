import { agentUser, redisKeys } from '@vantage/contract';
import { parseRedisUrl } from '@vantage/redis-connections';

import { readHash } from '../redis/read-hash.ts';
import { readArguments, usage, type AdminCommand } from './arguments.ts';
import type { AdminConfig } from './config.ts';
import { addProbe, outcome, rotatePassword, type AdminParts } from './credentials.ts';
import { showResult, type AdminResult, type AdminStreams } from './output.ts';
import { agreedUser, currentUser, noneDid, readUser, removeUser, writeUser } from '../probes/access/redis-users.ts';
import { createProbeRecords } from '../probes/registry/probe-records.ts';
import { createProbeValidators, type ProbeValidators } from '../probes/registry/probe-validators.ts';
import { mastersAmong, openRedisNodes } from '../probes/access/redis-nodes.ts';
import { ensureTls, readCa } from './tls/tls-folder.ts';

/**
 * The operator's commands on probes and on the Redis users of their agents.
 *
 * @param args the command (`add`, `rotate`, `enable`, `remove`, `list`, `tls`) and its arguments
 * @returns the exit code: 0 done, 1 Redis refused or nothing was there, 2 arguments that cannot be used
 */
export async function runProbeAdmin(
  args: readonly string[],
  config: AdminConfig,
  streams: AdminStreams,
): Promise<number> {
  const validators = createProbeValidators();
  const read = readArguments(args, validators);
  if ('faults' in read) {
    for (const line of [...read.faults, usage]) streams.err(line);
    return 2;
  }
  const { given } = read;
  try {
    const result = given.command === 'tls' ? await makeTls(given, config) : await onRedis(given, config, validators);
    return showResult(result, given.json, streams);
  } catch (error) {
    streams.err(`It could not be done: ${Error.isError(error) ? error.message : String(error)}`);
    return 1;
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
type OnRedis = Exclude<AdminCommand, { readonly command: 'tls' }>;

async function onRedis(given: OnRedis, config: AdminConfig, validators: ProbeValidators): Promise<AdminResult> {
  const certificates = config.certificates ?? readCa(config.tlsFolder);
  const { close, ...nodes } = await openRedisNodes({ url: config.redisUrl, listed: config.nodes, certificates });
  try {
    const masters = await mastersAmong(nodes.nodes);
    const records = createProbeRecords(nodes.redis, validators, () => masters);
    return await runCommand(given, { ...nodes, records, config });
  } finally {
    await close();
  }
}

async function runCommand(given: OnRedis, parts: AdminParts): Promise<AdminResult> {
  switch (given.command) {
    case 'add':
      if (!given.recordOnly) return addProbe(parts, given.record, given);
      await parts.records.write(given.record);
      return { said: [`Probe ${given.record.id} is recorded.`], warnings: [], done: true };
    case 'rotate':
      return rotatePassword(parts, given.id, given.manner, given);
    case 'enable':
      return enable(parts, given.id);
    case 'remove':
      return remove(parts, given.id);
    case 'list':
      return list(parts);
    default:
      return given satisfies never;
  }
}

async function enable(parts: AdminParts, id: string): Promise<AdminResult> {
  const user = await agreedUser(parts.nodes, id);
  if (user === undefined) return { said: [`There is no Redis user of a probe ${id}.`], warnings: [], done: false };
  // The note first: while it stands, the coordinator switches the user off again.
  await parts.redis.hdel(redisKeys.suspended, id);
  const nodes = await writeUser(parts.nodes, id, { ...user, on: true }, parts);
  const said = noneDid(nodes) ? `The user of ${id} is as it was.` : `The user of ${id} is switched on.`;
  return { said: [said], ...(await outcome(parts, nodes, [])) };
}

/** The user first: afterwards nothing writes into what is removed. */
async function remove(parts: AdminParts, id: string): Promise<AdminResult> {
  const hadUser = (await currentUser(parts.nodes, id)) !== undefined;
  const nodes = await removeUser(parts.nodes, id);
  const hadRecord = await parts.records.remove(id);
  if (!hadUser && !hadRecord) return { said: [`There is no probe ${id}.`], warnings: [], done: false };
  return { said: [`Probe ${id} is removed.`], ...(await outcome(parts, nodes, [])) };
}

async function list({ records, redis, nodes, unreachable }: AdminParts): Promise<AdminResult> {
  const [all, off] = await Promise.all([records.list(), readHash(redis, redisKeys.suspended)]);
  const probes = await Promise.all(
    all.map(async (record) => ({
      ...record,
      user: agentUser(record.id),
      switchedOff: off[record.id] ?? null,
      nodes: await Promise.all(
        nodes.map(async (node) => {
          const state = await readUser(node.redis, record.id);
          return { node: node.name, state: state === undefined ? 'missing' : state.on ? 'on' : 'off' };
        }),
      ),
    })),
  );
  const warnings = unreachable.map(({ name, why }) => `${name} cannot be reached: ${why}`);
  return { said: [], warnings, done: true, data: { probes }, lines: all.map((record) => JSON.stringify(record)) };
}

import { agentUser, type ProbeRecord } from '@vantage/contract';
import { parseRedisUrl } from '@vantage/redis-connections';

import type { AdminConfig } from './config.ts';
import type { AdminResult } from './output.ts';
import {
  agentEnvironment,
  createEnvironmentFile,
  passwordOf,
  type AgentEnvironment,
  type EnvironmentFile,
} from '../probes/access/agent-environment.ts';
import {
  agreedUser,
  currentUser,
  endConnections,
  hashPassword,
  isOpenToAll,
  newPassword,
  noneDid,
  writeUser,
  type NodeOutcome,
} from '../probes/access/redis-users.ts';
import type { ProbeRecords } from '../probes/registry/probe-records.ts';
import type { RedisNodes } from '../probes/access/redis-nodes.ts';
import { ensureTls } from './tls/tls-folder.ts';

export interface AdminParts extends Omit<RedisNodes, 'close'> {
  readonly records: ProbeRecords;
  readonly config: AdminConfig;
}

export interface Handover {
  /** File for the agent's environment variables; if undefined, the result contains them. */
  readonly envFile: string | undefined;
  /** True to leave the CA of Redis out of the environment. */
  readonly noCa: boolean;
}

/** Writes the user, then the record. An existing user keeps its passwords. */
export async function addProbe(parts: AdminParts, record: ProbeRecord, handover: Handover): Promise<AdminResult> {
  const { id } = record;
  const before = await agreedUser(parts.nodes, id);
  const place = placeFor(handover.envFile, id);
  if (place.taken !== undefined && before === undefined && place.password === undefined) {
    throw new Error(`${place.taken} is there already and is no environment file of ${id}`);
  }
  const inFile = place.password === undefined ? [] : [hashPassword(place.password)];
  // If Redis has lost the user, the password in the file becomes valid again; if the user has other passwords, that in
  // the file is void.
  const known = before?.hashes ?? inFile;
  const isVoid = inFile.some((hash) => !known.includes(hash));
  const password = known.length === 0 ? newPassword() : undefined;
  const hashes = password === undefined ? known : [hashPassword(password)];
  const made = password === undefined ? undefined : await environmentFor(place, parts.config, id, password, handover);
  const nodes = await writeUser(parts.nodes, id, { on: before?.on ?? true, hashes }, parts);
  if (noneDid(nodes)) {
    place.file?.drop();
    return { said: [`The user of ${id} could not be written.`], warnings: [], done: false, nodes };
  }
  await parts.records.write(record);
  return {
    ...handOver(made?.environment, place),
    said: [
      `Probe ${id} is recorded. Its agent is the Redis user ${agentUser(id)}.`,
      ...(made?.said ?? []),
      ...(password === undefined ? ['It keeps its password; probe:rotate makes a new one.'] : handedOver(handover)),
    ],
    ...(await outcome(parts, nodes, [
      ...(made?.warnings ?? []),
      ...(isVoid
        ? [`The password in ${place.taken} was replaced and does not hold: probe:rotate makes a new one.`]
        : []),
    ])),
  };
}

/**
 * @param manner `at-once` revokes all old passwords, `overlap` all but the newest; `finish` makes no new password and
 * revokes all but the newest
 */
export async function rotatePassword(
  parts: AdminParts,
  id: string,
  manner: 'at-once' | 'overlap' | 'finish',
  handover: Handover,
): Promise<AdminResult> {
  const before = await (manner === 'at-once' ? currentUser : agreedUser)(parts.nodes, id);
  if (before === undefined) return { said: [`There is no Redis user of a probe ${id}.`], warnings: [], done: false };
  const newest = before.hashes.slice(-1);
  if (manner === 'finish') {
    const nodes = await writeUser(parts.nodes, id, { ...before, hashes: newest }, parts);
    if (noneDid(nodes)) return { said: [`The passwords of ${id} are as they were.`], warnings: [], done: false, nodes };
    await endConnections(parts.nodes, id);
    const said = [`Only the newest password of ${id} holds.`];
    return { said, ...(await outcome(parts, nodes, [])) };
  }
  const place = placeFor(handover.envFile, id);
  if (place.taken !== undefined) throw new Error(`${place.taken} is there already`);
  const password = newPassword();
  const { environment, said, warnings } = await environmentFor(place, parts.config, id, password, handover);
  const hashes = [...(manner === 'overlap' ? newest : []), hashPassword(password)];
  const nodes = await writeUser(parts.nodes, id, { ...before, hashes }, parts);
  if (noneDid(nodes)) {
    place.file?.drop();
    return { said: [`The passwords of ${id} are as they were.`], warnings: [], done: false, nodes };
  }
  if (manner === 'at-once') await endConnections(parts.nodes, id);
  const old =
    manner === 'overlap'
      ? `The old one holds until probe:rotate ${id} --finish.`
      : 'The old one is void, and its connections are ended.';
  return {
    ...handOver(environment, place),
    said: [`Probe ${id} has a new password. ${old}`, ...said, ...handedOver(handover)],
    ...(await outcome(
      parts,
      nodes,
      before.on ? warnings : [...warnings, `The user is switched off: probe:enable ${id}.`],
    )),
  };
}

/**
 * Reports the outcome on every node, and warns of users that a restart loses and of a default user without a password.
 */
export async function outcome(
  { redis, nodes: asked, unreachable, cluster }: AdminParts,
  nodes: readonly NodeOutcome[],
  warnings: readonly string[],
): Promise<Pick<AdminResult, 'nodes' | 'warnings' | 'done'>> {
  const all = [...nodes, ...unreachable.map(({ name, why }) => ({ node: name, fault: why, saved: false }))];
  const unsaved = nodes.filter(({ fault, saved }) => fault === null && !saved).map(({ node }) => node);
  const isOpen = await isOpenToAll(cluster ? asked[0]!.redis : redis).catch(() => false);
  return {
    nodes: all,
    done: all.every(({ fault }) => fault === null),
    warnings: [
      ...warnings,
      ...(unsaved.length === 0
        ? []
        : [`${unsaved.join(', ')} has no ACL file (aclfile in redis.conf): users are lost when it restarts.`]),
      ...(isOpen
        ? ['The default user of Redis needs no password: every client that reaches Redis has its rights.']
        : []),
    ],
  };
}

interface Made {
  readonly environment: AgentEnvironment;
  readonly said: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Builds the environment and writes the file, before Redis knows the password: on a full disk it would be lost. Rejects
 * with the reason if one of them fails; the file is removed then.
 */
async function environmentFor(
  place: Place,
  config: AdminConfig,
  id: string,
  password: string,
  handover: Handover,
): Promise<Made> {
  try {
    const made = await environmentOf(config, id, password, handover);
    place.file?.write(made.environment);
    return made;
  } catch (error) {
    place.file?.drop();
    throw error;
  }
}

async function environmentOf(config: AdminConfig, id: string, password: string, { noCa }: Handover): Promise<Made> {
  const address = config.agentRedisUrl ?? config.redisUrl;
  // `agentEnvironment` replaces only the login before the host: a password elsewhere in the URL, such as one for
  // Sentinels, would leak to the agent.
  if (config.agentRedisUrl === undefined && /[?&]\w*password=/i.test(address)) {
    throw new Error('REDIS_URL has a password behind its question mark that agents must not get: set AGENT_REDIS_URL');
  }
  const own = parseRedisUrl(config.redisUrl);
  if (own.kind === 'single' && own.database !== 0) {
    throw new Error('Agents can use database 0 of Redis only, and REDIS_URL names another one: use probe:invite');
  }
  const { tls, endpoints } = parseRedisUrl(address);
  const hosts = endpoints.map(({ host }) => host);
  if (!tls) {
    const isLocal = hosts.every((host) => /^(localhost|127\.[\d.]+|::1)$/.test(host));
    const warning = 'Agents send their password in clear: set AGENT_REDIS_URL to a rediss:// address.';
    const environment = agentEnvironment(id, password, address, undefined);
    return { environment, said: [], warnings: isLocal ? [] : [warning] };
  }
  if (noCa || config.certificates !== undefined) {
    const ca = noCa ? undefined : config.certificates;
    return { environment: agentEnvironment(id, password, address, ca), said: [], warnings: [] };
  }
  const { ca, made } = await ensureTls(config.tlsFolder, { hosts });
  const said = made.length === 0 ? [] : [`Made in ${config.tlsFolder}: ${made.join(' and ')}. Redis must reload it.`];
  return { environment: agentEnvironment(id, password, address, ca), said, warnings: [] };
}

interface Place {
  readonly file?: EnvironmentFile;
  /** The path of the file, if it existed before: it is not written. */
  readonly taken?: string;
  readonly password?: string | undefined;
}

/** The destination of a new password, created before anything is changed: without one the password would be lost. */
function placeFor(path: string | undefined, id: string): Place {
  if (path === undefined) return {};
  const file = createEnvironmentFile(path);
  return file === undefined ? { taken: path, password: passwordOf(path, id) } : { file };
}

function handOver(environment: AgentEnvironment | undefined, { file }: Place): Pick<AdminResult, 'environment'> {
  if (file === undefined) return environment === undefined ? {} : { environment };
  if (environment === undefined) file.drop();
  return {};
}

function handedOver({ envFile }: Handover): readonly string[] {
  const where =
    envFile === undefined ? 'Its environment file, shown this once:' : `Its environment file is ${envFile}.`;
  return [where];
}

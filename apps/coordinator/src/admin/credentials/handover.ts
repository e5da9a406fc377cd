import { parseRedisUrl } from '@vantage/redis-connections';

import {
  agentEnvironment,
  createEnvironmentFile,
  passwordOf,
  type AgentEnvironment,
  type EnvironmentFile,
} from '../../probes/access/agent-environment.ts';
import type { AdminConfig } from '../config.ts';
import type { AdminResult } from '../output.ts';
import { ensureTls } from '../tls/tls-folder.ts';

/** How an operator wants the environment of an agent handed over. */
export interface Handover {
  /** File for the agent's environment variables; if undefined, the result contains them. */
  readonly envFile: string | undefined;
  /** True to leave the CA of Redis out of the environment. */
  readonly noCa: boolean;
}

/** The destination of a new password. */
export interface Destination {
  readonly file?: EnvironmentFile;
  /** The path of the file, if it existed before: it is not written. */
  readonly taken?: string;
  /** The password in that file. */
  readonly password?: string | undefined;
}

/** Creates the file, if one is wanted, before anything is changed: a password without a destination would be lost. */
export function destinationFor(path: string | undefined, id: string): Destination {
  if (path === undefined) return {};
  const file = createEnvironmentFile(path);
  return file === undefined ? { taken: path, password: passwordOf(path, id) } : { file };
}

interface Made {
  readonly environment: AgentEnvironment;
  readonly said: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Builds the environment and writes the file before Redis gets the password, which would be lost if the disk is full.
 * Rejects with the reason if one of them fails; the file is removed then.
 */
export async function environmentFor(
  destination: Destination,
  config: AdminConfig,
  id: string,
  password: string,
  handover: Handover,
): Promise<Made> {
  try {
    const made = await environmentOf(config, id, password, handover);
    destination.file?.write(made.environment);
    return made;
  } catch (error) {
    destination.file?.drop();
    throw error;
  }
}

/** Returns the environment if there is no file for it. Removes the file if there is no environment. */
export function handOver(
  environment: AgentEnvironment | undefined,
  { file }: Destination,
): Pick<AdminResult, 'environment'> {
  if (file === undefined) return environment === undefined ? {} : { environment };
  if (environment === undefined) file.drop();
  return {};
}

export function handedOver({ envFile }: Handover): readonly string[] {
  const where =
    envFile === undefined ? 'Its environment file, shown this once:' : `Its environment file is ${envFile}.`;
  return [where];
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

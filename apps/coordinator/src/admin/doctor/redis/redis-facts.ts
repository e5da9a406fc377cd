import { agentUser } from '@vantage/contract';
import { mastersOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { isOpenToAll } from '../../../probes/access/redis-users.ts';

/** Facts about a Redis server. */
export interface RedisFacts {
  /** `host:port` */
  readonly server: string;
  /** Fields of `INFO`. */
  readonly info: ReadonlyMap<string, string>;
  /** Values of `PARAMETERS` by `CONFIG GET`; undefined if the login may not use it. */
  readonly config: ReadonlyMap<string, string> | undefined;
  /** True if connections need no login; false also if the login may not see that. */
  readonly isOpen: boolean;
  /** Users of agents, as far as the login may see them. */
  readonly agentUsers: number;
}

const PARAMETERS = [
  'client-output-buffer-limit',
  'appendfsync',
  'dir',
  'save',
  'aclfile',
  'bind',
  'protected-mode',
] as const;

/** Reads the connected server, or each master of a cluster. */
export async function readRedisFacts(redis: Redis): Promise<readonly RedisFacts[]> {
  return Promise.all(mastersOf(redis).map(readServer));
}

async function readServer(redis: Redis): Promise<RedisFacts> {
  const info = new Map(
    (await redis.info())
      .split('\r\n')
      .map((line) => line.split(/:(.*)/s))
      .flatMap(([name, value]) => (name === undefined || value === undefined ? [] : [[name, value] as const])),
  );
  const config = await readConfig(redis);
  const isOpen = await isOpenToAll(redis).catch(() => false);
  return { server: serverNameOf(redis), info, config, isOpen, agentUsers: await countAgentUsers(redis) };
}

async function countAgentUsers(redis: Redis): Promise<number> {
  const users = await redis.call('ACL', 'USERS').catch(() => []);
  return Array.isArray(users) ? users.filter((user) => String(user).startsWith(agentUser(''))).length : 0;
}

/** Address of the connected server; `REDIS_URL` may name the Sentinels only. */
function serverNameOf(redis: Redis): string {
  const { remoteAddress, remotePort } = redis.stream;
  return remoteAddress === undefined ? 'Redis' : `${remoteAddress}:${remotePort}`;
}

async function readConfig(redis: Redis): Promise<RedisFacts['config']> {
  try {
    const replies = await Promise.all(PARAMETERS.map((name) => redis.config('GET', name)));
    return new Map(replies.flatMap((reply) => pairsOf(reply)));
  } catch {
    return undefined;
  }
}

/** The parameter in a reply to `CONFIG GET`: an array of name and value in RESP2, a map or an object in RESP3. */
function pairsOf(reply: unknown): readonly (readonly [string, string])[] {
  if (Array.isArray(reply)) return reply.length < 2 ? [] : [[String(reply[0]), String(reply[1])]];
  if (reply instanceof Map) return [...reply].map(([name, value]) => [String(name), String(value)]);
  return Object.entries(reply as object).map(([name, value]) => [name, String(value)]);
}

/** @returns undefined if the field is missing or no number */
export function numberOf({ info }: RedisFacts, field: string): number | undefined {
  const text = info.get(field);
  const number = Number(text);
  return text === undefined || !Number.isFinite(number) ? undefined : number;
}

import { createHash, randomBytes } from 'node:crypto';

import { agentRights, agentUser } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { RedisNode } from './redis-nodes.ts';

/** Outcome of a change to a user on one node. */
export interface NodeOutcome {
  readonly node: string;
  /** Why the change failed; null on success. */
  readonly fault: string | null;
  /** True if the node saved its ACL file, so that the change survives a restart. */
  readonly saved: boolean;
}

/** The user of an agent on one node. */
export interface UserState {
  readonly on: boolean;
  /** SHA-256 of the user's passwords in hexadecimal, newest last. */
  readonly hashes: readonly string[];
}

/** A password of 256 random bits, in characters that need no escaping in a URL, shell or environment file. */
export function newPassword(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * SHA-256 in hexadecimal, as Redis stores it. Operator commands send only this hash (`ACL SETUSER #…`), so the password
 * never reaches Redis before the agent logs in.
 */
export function hashPassword(password: string): string {
  return createHash('sha256').update(password).digest('hex');
}

/** @returns undefined if the node has no such user */
export async function readUser(redis: Redis, probe: string): Promise<UserState | undefined> {
  const reply: unknown = await redis.call('ACL', 'GETUSER', agentUser(probe));
  if (reply === null) return undefined;
  const fields = fieldsOf(reply);
  return { on: (fields.get('flags') ?? []).includes('on'), hashes: fields.get('passwords') ?? [] };
}

/** The user as on the first node that has it; enabled only if it is enabled on every node that has it. */
export async function currentUser(nodes: readonly RedisNode[], id: string): Promise<UserState | undefined> {
  return (await statesOf(nodes, id)).user;
}

/**
 * Reads the user of a probe for a change that keeps its passwords.
 *
 * @throws if the passwords differ between nodes: a node that was unreachable during a change may still have revoked
 * ones
 */
export async function agreedUser(nodes: readonly RedisNode[], id: string): Promise<UserState | undefined> {
  const { user, agree } = await statesOf(nodes, id);
  if (!agree) throw new Error(`the nodes have different passwords of ${id}: probe:rotate ${id} makes one for all`);
  return user;
}

async function statesOf(
  nodes: readonly RedisNode[],
  id: string,
): Promise<{ readonly user: UserState | undefined; readonly agree: boolean }> {
  const states = (await Promise.all(nodes.map(({ redis }) => readUser(redis, id)))).filter(
    (state) => state !== undefined,
  );
  const [first] = states;
  const passwords = new Set(states.map(({ hashes }) => hashes.toSorted().join()));
  const user = first === undefined ? undefined : { ...first, on: states.every(({ on }) => on) };
  return { user, agree: passwords.size <= 1 };
}

/** True if the change failed on every node. */
export function noneDid(nodes: readonly NodeOutcome[]): boolean {
  return nodes.every(({ fault }) => fault !== null);
}

/** Sets state, passwords and rights of the user, regardless of earlier ones. */
export function writeUser(
  nodes: readonly RedisNode[],
  probe: string,
  { on, hashes }: UserState,
  options: { readonly cluster: boolean },
): Promise<readonly NodeOutcome[]> {
  const passwords = hashes.map((hash) => `#${hash}`);
  return onEach(nodes, async (redis) => {
    const rights = agentRights(probe, options);
    await redis.call('ACL', 'SETUSER', agentUser(probe), 'reset', on ? 'on' : 'off', ...passwords, ...rights);
  });
}

/** Closes all connections of the user on the nodes that reply. */
export async function endConnections(nodes: readonly RedisNode[], probe: string): Promise<void> {
  await Promise.allSettled(nodes.map(({ redis }) => redis.call('CLIENT', 'KILL', 'USER', agentUser(probe))));
}

/** Deletes the Redis user of a probe's agent; Redis then closes its connections. */
export function removeUser(nodes: readonly RedisNode[], probe: string): Promise<readonly NodeOutcome[]> {
  return onEach(nodes, async (redis) => {
    await redis.call('ACL', 'DELUSER', agentUser(probe));
  });
}

/** True if connections need no login: they have the rights of the default user. */
export async function isOpenToAll(redis: Redis): Promise<boolean> {
  const fields = fieldsOf(await redis.call('ACL', 'GETUSER', 'default'));
  const flags = fields.get('flags') ?? [];
  return flags.includes('on') && flags.includes('nopass');
}

function onEach(nodes: readonly RedisNode[], change: (redis: Redis) => Promise<void>): Promise<readonly NodeOutcome[]> {
  return Promise.all(
    nodes.map(async ({ name, redis }) => {
      try {
        await change(redis);
        return { node: name, fault: null, saved: await save(redis) };
      } catch (error) {
        return { node: name, fault: Error.isError(error) ? error.message : String(error), saved: false };
      }
    }),
  );
}

/**
 * Saves the ACL file, because Redis stores no users with its data. False if that fails, as it does without an ACL file.
 */
async function save(redis: Redis): Promise<boolean> {
  try {
    await redis.call('ACL', 'SAVE');
    return true;
  } catch {
    return false;
  }
}

/** The reply of `ACL GETUSER`: alternating names and values, or an object, depending on the protocol version. */
function fieldsOf(reply: unknown): ReadonlyMap<string, readonly string[]> {
  const pairs: [string, unknown][] = Array.isArray(reply)
    ? Array.from({ length: reply.length / 2 }, (_, index) => [String(reply[index * 2]), reply[index * 2 + 1]])
    : Object.entries(reply ?? {});
  return new Map(pairs.map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : []]));
}

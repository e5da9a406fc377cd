import { createHash, randomBytes } from 'node:crypto';

import { agentRights, agentUser } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { RedisNode } from './redis-nodes.ts';

/** What a change of a user came to on one node. */
export interface NodeOutcome {
  readonly node: string;
  /** Null where it was done. */
  readonly fault: string | null;
  /** Whether it outlives a restart of that node: it is in its ACL file. */
  readonly saved: boolean;
}

/** An agent's user on one node. */
export interface UserState {
  readonly on: boolean;
  /** SHA-256 of its passwords, hexadecimal, the newest last. */
  readonly hashes: readonly string[];
}

/** 256 bits, of characters that need no escape in a URL, a shell or a file of variables. */
export function newPassword(): string {
  return randomBytes(32).toString('base64url');
}

/** As Redis keeps a password. The password itself is never sent to Redis, whose log or `MONITOR` might show it. */
export function hashPassword(password: string): string {
  return createHash('sha256').update(password).digest('hex');
}

/** @returns undefined where the node has no such user */
export async function readUser(redis: Redis, probe: string): Promise<UserState | undefined> {
  const reply: unknown = await redis.call('ACL', 'GETUSER', agentUser(probe));
  if (reply === null) return undefined;
  const fields = fieldsOf(reply);
  return { on: (fields.get('flags') ?? []).includes('on'), hashes: fields.get('passwords') ?? [] };
}

/** The user as the first node has it that has one; on where it is on everywhere. */
export async function currentUser(nodes: readonly RedisNode[], id: string): Promise<UserState | undefined> {
  return (await statesOf(nodes, id)).user;
}

/**
 * The user whose passwords are to be kept.
 *
 * @throws where nodes have different ones: one that was away may still have the old password, which is void
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

/** True where no node took a change: all is as it was. */
export function noneDid(nodes: readonly NodeOutcome[]): boolean {
  return nodes.every(({ fault }) => fault !== null);
}

/** Makes the user what it has to be, from nothing: state, passwords and rights. */
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

/** Ends every connection of the user: those that are there were let in by what held then. */
export async function endConnections(nodes: readonly RedisNode[], probe: string): Promise<void> {
  await Promise.allSettled(nodes.map(({ redis }) => redis.call('CLIENT', 'KILL', 'USER', agentUser(probe))));
}

/** Its connections end with it. */
export function removeUser(nodes: readonly RedisNode[], probe: string): Promise<readonly NodeOutcome[]> {
  return onEach(nodes, async (redis) => {
    await redis.call('ACL', 'DELUSER', agentUser(probe));
  });
}

/** True where whoever connects without a login may do all. */
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

/** False where there is no ACL file; users are in neither the append-only file nor what replicas get. */
async function save(redis: Redis): Promise<boolean> {
  try {
    await redis.call('ACL', 'SAVE');
    return true;
  } catch {
    return false;
  }
}

/** The reply of `ACL GETUSER`: names and values in turn, or an object of them, as the protocol has it. */
function fieldsOf(reply: unknown): ReadonlyMap<string, readonly string[]> {
  const pairs: [string, unknown][] = Array.isArray(reply)
    ? Array.from({ length: reply.length / 2 }, (_, index) => [String(reply[index * 2]), reply[index * 2 + 1]])
    : Object.entries(reply ?? {});
  return new Map(pairs.map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : []]));
}

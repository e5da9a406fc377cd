import { JOB_QUEUE, redisKeys } from './redis-keys.ts';

/**
 * Commands without a key. Excludes scripts, and `CLIENT SETNAME`: names of megabytes would make the list of connections
 * too long to read.
 */
const keyless = 'time publish';

/** Additional commands with which a cluster client finds the node that holds its keys. */
const clusterCommands = 'cluster|slots';

/**
 * Maximum words of a request of an agent. The slow log of Redis shows as many in full: an entry with omitted words is
 * no request of an agent.
 */
export const MOST_REQUEST_WORDS = 31;

/** Name of the Redis user of a probe's agent. */
export function agentUser(probe: string): string {
  return `probe-${probe}`;
}

/** Commands that `agentRights` allows, in lower case. */
export function agentCommands(): ReadonlySet<string> {
  const rights = agentRights('any', { cluster: true }).join(' ');
  return new Set([...rights.matchAll(/\+([\w|]+)/g)].map(([, command = '']) => command));
}

/**
 * Rights of an agent's Redis user: `ACL SETUSER` arguments that start from an empty rule set, without `on` or a
 * password. Selectors (Redis 7) restrict each command to certain keys. An agent moves and removes jobs but cannot add
 * them, and reads with `HGETALL` instead of `HMGET`: coordinators alone decide how much one command can return.
 */
export function agentRights(probe: string, { cluster = false } = {}): readonly string[] {
  const queue = `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:`;
  const allowed = `${keyless}${cluster ? ` ${clusterCommands}` : ''}`.split(' ').map((command) => `+${command}`);
  return [
    'resetkeys',
    'clearselectors',
    'resetchannels',
    `&${redisKeys.resultNotification(probe)}`,
    '-@all',
    ...allowed,
    `(~${queue}wait ~${queue}active +blmove)`,
    `(~${queue}active +lrange +lrem)`,
    `(%R~${queue}* +hgetall)`,
    `(%W~${queue}* +unlink)`,
    `(%W~${redisKeys.results(probe)} +xadd)`,
    `(~${redisKeys.heartbeat(probe)} +set +del)`,
  ];
}

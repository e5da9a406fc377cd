import { JOB_QUEUE, redisKeys } from './redis-keys.ts';

/** Commands without a key. No script and nothing else whose cost grows with what an agent can store. */
const keyless = 'hello client|setname time publish';

/** How a client of a cluster finds the node that has its keys. */
const clusterCommands = 'cluster|slots';

/** Name of the Redis user of a probe's agent. */
export function agentUser(probe: string): string {
  return `probe-${probe}`;
}

/**
 * All that an agent's Redis user may do, as arguments of `ACL SETUSER` that begin from nothing; neither `on` nor a password
 * is among them. Each command has its own keys (selectors, Redis 7): an agent moves and removes jobs of its queue but adds
 * none, so that what it may read is as large as coordinators made it (`HGETALL`, not `HMGET` with fields of its choice);
 * it writes results without reading them.
 */
export function agentRights(probe: string, { cluster = false } = {}): readonly string[] {
  const queue = `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:`;
  const allowed = `${keyless}${cluster ? ` ${clusterCommands}` : ''}`.split(' ').map((command) => `+${command}`);
  return [
    ...['resetkeys', 'clearselectors', 'resetchannels', `&${redisKeys.resultHint(probe)}`, '-@all', ...allowed],
    `(~${queue}wait ~${queue}active +blmove)`,
    `(~${queue}active +lrange +lrem)`,
    `(%R~${queue}* +hgetall)`,
    `(%W~${queue}* +unlink)`,
    `(%W~${redisKeys.results(probe)} +xadd)`,
    `(~${redisKeys.heartbeat(probe)} +set +del)`,
  ];
}

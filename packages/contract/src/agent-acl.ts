import { JOB_QUEUE, redisKeys } from './redis-keys.ts';

/**
 * The commands of an agent, found by trial: its own, and those inside BullMQ's scripts, which Redis judges one by one. No
 * `EVAL` and no `SCRIPT`: whoever could bring Lua of his own could hang Redis for good. The coordinator loads the scripts.
 */
const commands =
  'hello client|setname bzpopmin evalsha time publish xadd del exists get hget hgetall hincrby hmget hmset hset llen ' +
  'lpush lrange lrem rpoplpush scard set srem xtrim zadd zcard zpopmin zrange zrangebyscore';

/** How a client of a cluster finds the node that has its keys. */
const clusterCommands = 'cluster|slots';

/** Name of the Redis user of a probe's agent. */
export function agentUser(probe: string): string {
  return `probe-${probe}`;
}

/**
 * All that an agent's Redis user may do, as arguments of `ACL SETUSER` that begin from nothing; neither `on` nor a password
 * is among them. It reads and writes its own queue and heartbeat, writes its own results, and reaches no other key.
 */
export function agentRights(probe: string, { cluster = false } = {}): readonly string[] {
  const queue = `~${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:*`;
  const allowed = `${commands}${cluster ? ` ${clusterCommands}` : ''}`.split(' ').map((command) => `+${command}`);
  return [
    ...['resetkeys', queue, `%W~${redisKeys.results(probe)}`, `~${redisKeys.heartbeat(probe)}`],
    ...['resetchannels', `&${redisKeys.resultHint(probe)}`],
    ...['-@all', ...allowed],
  ];
}

import { count, error, ok, warning, type DoctorFinding } from '../finding.ts';
import { checkAccess } from './check-access.ts';
import { checkMemory, type MemoryBudget } from './check-memory.ts';
import { checkOutputBuffers } from './check-output-buffers.ts';
import { numberOf, type RedisFacts } from './redis-facts.ts';

const OLDEST_MAJOR = 7;
/** Used share of `maxclients` from which the finding is an error. */
const FULL_AT = 0.95;
/** Used share of `maxclients` above which there is a warning. */
const NEARLY_FULL_AT = 0.8;
/** Connections that `maxclients` must have room for, for each agent that connects to Redis. */
const PER_REDIS_AGENT = 6;
/**
 * Connections that `maxclients` must have room for, for all other programs of the service (docs/operations.md,
 * "Components").
 */
const PER_DEPLOYMENT = 100;

export interface RedisExpectations {
  readonly budget: MemoryBudget;
  /** Agents that connect to this Redis. */
  readonly redisAgents: number;
  /** Masters that share the data: more than one in a Cluster. */
  readonly servers: number;
}

/** Findings on one server. */
export function checkRedis(facts: RedisFacts, expected: RedisExpectations): readonly DoctorFinding[] {
  return [
    checkVersion(facts),
    checkRole(facts),
    ...checkMemory(facts, expected.budget, expected.servers),
    checkEviction(facts),
    ...checkPersistence(facts),
    checkClients(facts, expected.redisAgents),
    checkOutputBuffers(facts),
    ...checkAccess(facts),
  ];
}

function checkVersion({ server, info }: RedisFacts): DoctorFinding {
  const version = info.get('valkey_version') ?? info.get('redis_version') ?? 'unknown';
  const name = info.has('valkey_version') ? 'Valkey' : 'Redis';
  const major = Number(version.split('.')[0]);
  return major >= OLDEST_MAJOR
    ? ok('redis.version', `${name} ${version} at ${server}.`)
    : error('redis.version', `${name} at ${server} is version ${version}; 7 is the oldest that works.`, 'Upgrade it.');
}

/** Finding about the role of the server: only a master accepts writes. */
export function checkRole({ server, info }: RedisFacts): DoctorFinding {
  const role = info.get('role') ?? 'unknown';
  return role === 'master'
    ? ok('redis.role', `${server} takes writes.`)
    : error(
        'redis.role',
        `${server} is a ${role === 'slave' ? 'replica' : role}: it takes no writes.`,
        'Let REDIS_URL name the master, or the Sentinels (redis+sentinel://…).',
      );
}

function checkEviction(facts: RedisFacts): DoctorFinding {
  const policy = facts.info.get('maxmemory_policy') ?? 'unknown';
  if (policy === 'noeviction') return ok('redis.eviction', `Redis at ${facts.server} evicts no keys (noeviction).`);
  const isLimited = (numberOf(facts, 'maxmemory') ?? 0) > 0;
  const remedy = 'Set maxmemory-policy to noeviction (CONFIG SET maxmemory-policy noeviction, and in redis.conf).';
  const message = `maxmemory-policy of Redis at ${facts.server} is ${policy}`;
  return isLimited
    ? error('redis.eviction', `${message}: when memory is full it deletes queued jobs, probes and keys.`, remedy)
    : warning('redis.eviction', `${message}. It has no effect until maxmemory is set.`, remedy);
}

function checkPersistence(facts: RedisFacts): readonly DoctorFinding[] {
  return [checkKept(facts), ...checkDiskWrites(facts)];
}

function checkDiskWrites({ server, info, config }: RedisFacts): readonly DoctorFinding[] {
  const appends = info.get('aof_enabled') === '1';
  const refusing = [
    ...(appends && info.get('aof_last_write_status') === 'err'
      ? ['the last write of the append-only file failed']
      : []),
    ...(config?.get('save') !== '' && info.get('rdb_last_bgsave_status') === 'err' ? ['the last snapshot failed'] : []),
  ];
  const growing = appends && info.get('aof_last_bgrewrite_status') === 'err';
  return [
    ...(refusing.length === 0
      ? []
      : [
          error(
            'redis.disk-writes',
            `Redis at ${server} cannot write its data: ${refusing.join(', and ')}.`,
            'Free space on its disk and see its log; until then it refuses writes, and checks get 503.',
          ),
        ]),
    ...(growing
      ? [
          error(
            'redis.disk-writes',
            `Redis at ${server} cannot rewrite its append-only file: the last attempt failed.`,
            'Free space or inodes on its disk and see its log; until then the file grows, in the end until the disk is full.',
          ),
        ]
      : []),
  ];
}

function checkKept({ server, info, config }: RedisFacts): DoctorFinding {
  const save = config?.get('save');
  const remedy = 'Set appendonly yes and appendfsync everysec, as infra/redis/redis.conf does.';
  if (info.get('aof_enabled') !== '1') {
    return save === ''
      ? error(
          'redis.persistence',
          `Redis at ${server} keeps nothing on disk: a restart loses probes, API keys and monitors.`,
          remedy,
        )
      : warning(
          'redis.persistence',
          `Redis at ${server} has no append-only file: a crash loses what was written since its last snapshot.`,
          remedy,
        );
  }
  const sync = config?.get('appendfsync') ?? 'unknown';
  return sync === 'no'
    ? warning(
        'redis.persistence',
        `Redis at ${server} leaves syncing its append-only file to the kernel (appendfsync no): a power failure may lose 30 s.`,
        remedy,
      )
    : ok('redis.persistence', `Redis at ${server} keeps an append-only file (appendfsync ${sync}).`);
}

function checkClients(facts: RedisFacts, redisAgents: number): DoctorFinding {
  const connected = numberOf(facts, 'connected_clients') ?? 0;
  const most = numberOf(facts, 'maxclients');
  if (most === undefined) return ok('redis.clients', `Redis at ${facts.server} has ${count(connected, 'client')}.`);
  const needed = redisAgents * PER_REDIS_AGENT + PER_DEPLOYMENT;
  const message = `Redis at ${facts.server} has ${connected} of at most ${count(most, 'client')} (maxclients).`;
  const remedy = `Raise maxclients to at least ${needed}, and its limit of open files (ulimit -n) above that.`;
  if (connected >= most * FULL_AT) return error('redis.clients', message, remedy);
  if (connected >= most * NEARLY_FULL_AT) return warning('redis.clients', message, remedy);
  if (most >= needed) return ok('redis.clients', message);
  return warning(
    'redis.clients',
    `${message} After an outage ${count(redisAgents, 'agent')} and the coordinators may need ${needed}.`,
    remedy,
  );
}

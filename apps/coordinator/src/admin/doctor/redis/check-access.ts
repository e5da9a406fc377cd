import { count, error, warning, type DoctorFinding } from '../finding.ts';
import type { RedisFacts } from './redis-facts.ts';

/** Findings on access to Redis: connections without a login, and agents’ users that a restart of Redis loses. */
export function checkAccess(facts: RedisFacts): readonly DoctorFinding[] {
  return [...checkLogin(facts), ...checkUsers(facts)];
}

/** A Redis without a login is acceptable if it accepts connections from its own machine only. */
function checkLogin({ server, config, isOpen }: RedisFacts): readonly DoctorFinding[] {
  const bound = (config?.get('bind') ?? '').split(' ').map((address) => address.replace(/^-/, ''));
  const isLocal = bound.every((address) => address === '::1' || address.startsWith('127.'));
  if (!isOpen || config?.get('protected-mode') !== 'no' || isLocal) return [];
  return [
    error(
      'redis.login',
      `Redis at ${server} needs no password: everyone who reaches its port can read and change everything.`,
      'Start it with infra/redis/start.sh, which switches the default user off, or set requirepass and put the password into REDIS_URL.',
    ),
  ];
}

/** Users are neither in the append-only file nor replicated. */
function checkUsers({ server, config, agentUsers }: RedisFacts): readonly DoctorFinding[] {
  if (agentUsers === 0 || config?.get('aclfile') !== '') return [];
  return [
    warning(
      'redis.users',
      `Redis at ${server} has no ACL file: a restart loses ${count(agentUsers, 'user')} of agents, unless redis.conf has them.`,
      'Set aclfile in redis.conf, then probe:add again for each probe.',
    ),
  ];
}

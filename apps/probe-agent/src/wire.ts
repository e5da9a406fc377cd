import { HEARTBEAT_TTL_MS, redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { HeartbeatParts } from './heartbeat.ts';
import type { ResultWriter } from './results.ts';

export function resultStream(probeId: string, redis: Redis): ResultWriter {
  const stream = redisKeys.results(probeId);
  const channel = redisKeys.resultHint(probeId);
  return {
    isReady: () => redis.status === 'ready',
    append: (check, kind, data) => redis.xadd(stream, '*', 'check', check, 'kind', kind, 'data', data),
    hint: () => redis.publish(channel, '1'),
  };
}

export function heartbeatKey(probeId: string, redis: Redis): Pick<HeartbeatParts, 'write' | 'remove' | 'isReady'> {
  const key = redisKeys.heartbeat(probeId);
  return {
    isReady: () => redis.status === 'ready',
    write: (json) => redis.set(key, json, 'PX', HEARTBEAT_TTL_MS, 'GET'),
    remove: () => redis.del(key),
  };
}

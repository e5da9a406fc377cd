import {
  BARE_NOTIFICATION,
  encodeNotification,
  HEARTBEAT_NOTIFICATION,
  HEARTBEAT_TTL_MS,
  redisKeys,
} from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { HeartbeatParts } from './heartbeat.ts';
import type { ResultWriter } from './results.ts';

/** @param traceparentOf the `traceparent` of the span of a check's run, for the coordinator that commits its result */
export function resultStream(
  probeId: string,
  redis: Redis,
  traceparentOf: (check: string) => string | undefined = () => undefined,
): ResultWriter {
  const stream = redisKeys.results(probeId);
  const channel = redisKeys.resultNotification(probeId);
  return {
    isReady: () => redis.status === 'ready',
    append: (check, kind, data, png) => {
      const picture = png === undefined ? [] : ['png', Buffer.from(png.buffer, png.byteOffset, png.byteLength)];
      const fields = ['check', check, 'kind', kind, 'data', data, ...picture, ...traceFields(traceparentOf(check))];
      return redis.xadd(stream, '*', ...fields);
    },
    notify: (final) => {
      const note = final && encodeNotification({ ...final, traceparent: traceparentOf(final.check) });
      return redis.publish(channel, note ?? BARE_NOTIFICATION);
    },
  };
}

/** The field with the `traceparent`, which older coordinators ignore; none without a span. */
function traceFields(traceparent: string | undefined): readonly string[] {
  return traceparent === undefined ? [] : ['traceparent', traceparent];
}

export function heartbeatKey(probeId: string, redis: Redis): Pick<HeartbeatParts, 'write' | 'remove' | 'isReady'> {
  const key = redisKeys.heartbeat(probeId);
  const announce = (): Promise<number> => redis.publish(redisKeys.resultNotification(probeId), HEARTBEAT_NOTIFICATION);
  return {
    isReady: () => redis.status === 'ready',
    write: async (json, isNews) => {
      const replaced = redis.set(key, json, 'PX', HEARTBEAT_TTL_MS, 'GET');
      // The announcement may fail: coordinators also poll heartbeats, only later.
      if (isNews) announce().catch(() => undefined);
      return replaced;
    },
    remove: () => Promise.all([redis.del(key), announce()]),
  };
}

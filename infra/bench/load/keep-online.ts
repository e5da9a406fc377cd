import { HEARTBEAT_EVERY_MS, HEARTBEAT_TTL_MS, redisKeys, type Heartbeat } from '@vantage/contract';
import { checkTypeNames } from '@vantage/diagnostics/contract';
import { Redis } from 'ioredis';

/**
 * Keeps probes online by writing only their heartbeats; they take no jobs.
 *
 * @param ids of probes with records
 * @returns a function that ends the heartbeats
 */
export async function keepOnline(redisUrl: string, ids: readonly string[]): Promise<() => void> {
  const redis = new Redis(redisUrl);
  const heartbeat = JSON.stringify(idle);
  const beat = (): Promise<unknown> =>
    Promise.all(ids.map((id) => redis.set(redisKeys.heartbeat(id), heartbeat, 'PX', HEARTBEAT_TTL_MS)));
  await beat();
  const beating = setInterval(() => void beat().catch(() => undefined), HEARTBEAT_EVERY_MS);
  return () => {
    clearInterval(beating);
    redis.disconnect();
  };
}

/** A heartbeat with so much capacity that it never makes a coordinator refuse a further job. */
const idle: Heartbeat = {
  v: 1,
  version: '0.1.0',
  instance: 'bench',
  capabilities: { types: [...checkTypeNames], ipv4: true, ipv6: false, screenshot: false },
  degraded: [],
  load: { running: 0, capacity: 1_000_000 },
  draining: false,
  announced: true,
};

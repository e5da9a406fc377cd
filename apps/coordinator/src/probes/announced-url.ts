import { isIP } from 'node:net';

import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { BackgroundTask } from '../redis/background-tasks.ts';
import type { RedisClock } from '../redis/clock.ts';
import type { Log } from '../redis/log.ts';
import { onStore } from '../redis/store.ts';

/** Interval of retries to store the public URL while Redis is unavailable. */
const POLL_INTERVAL_MS = 2_000;
/** Interval at which the public URL is stored again, because Redis may have lost it. */
const AGAIN_MS = 60_000;
/** Age up to which a URL counts as that of a running coordinator. */
const CURRENT_MS = 2.5 * AGAIN_MS;
/** Time for which no default address replaces a URL that was set: its coordinators may be stopped. */
const KEPT_MS = 86_400_000;

/** The public URL of a coordinator. */
export interface AnnouncedUrl {
  readonly url: string;
  /** False for the listening address, the default, and for any on loopback. */
  readonly isSet: boolean;
}

/** Stores the public URL of this coordinator, and warns in the log while others have another one. */
export function announcedUrl(
  redis: Redis,
  clock: RedisClock,
  log: Log,
): { readonly announce: (url: string, isConfigured: boolean) => void; readonly task: BackgroundTask } {
  let own: AnnouncedUrl | undefined;
  let writtenAt = Number.NEGATIVE_INFINITY;
  let warned = '';
  const run = async (): Promise<void> => {
    if (own === undefined) return;
    const { url, isSet } = own;
    const isDue = performance.now() - writtenAt >= AGAIN_MS;
    const others = await onStore(redis, async (ready) => {
      if (!isDue && (await ready.exists(redisKeys.serviceUrl)) === 1) return undefined;
      return store(ready, await clock.now(ready), { url, isSet });
    });
    if (others === undefined) return;
    writtenAt = performance.now();
    const text = others.join(' ');
    if (text !== warned && text !== '') {
      log.warn({ publicUrl: url, isConfigured: isSet, others }, 'other coordinators have another PUBLIC_URL');
    }
    warned = text;
  };
  return {
    announce: (url, isConfigured) => {
      own = { url, isSet: isConfigured && !isLoopback(new URL(url).hostname) };
      void run().catch(() => undefined);
    },
    task: { name: 'service url', everyMs: POLL_INTERVAL_MS, run },
  };
}

/** Stores a URL; a default address only if none was set within `KEPT_MS`. Returns the URLs that others have set. */
async function store(redis: Redis, nowMs: number, { url, isSet }: AnnouncedUrl): Promise<readonly string[]> {
  await redis.zremrangebyscore(redisKeys.serviceUrls, '-inf', nowMs - KEPT_MS);
  await redis.zadd(redisKeys.serviceUrls, nowMs, `${isSet ? 'set' : 'default'} ${url}`);
  const kept = (await urlsSince(redis, nowMs - (isSet ? CURRENT_MS : KEPT_MS))).filter((other) => other.isSet);
  const others = kept.map((other) => other.url).filter((other) => other !== url);
  if (isSet || others.length === 0) await redis.set(redisKeys.serviceUrl, url);
  return others;
}

/** The URLs of the coordinators that run, by the time of Redis. */
export async function currentUrls(redis: Redis): Promise<readonly AnnouncedUrl[]> {
  const [seconds] = await redis.time();
  return urlsSince(redis, Number(seconds) * 1_000 - CURRENT_MS);
}

async function urlsSince(redis: Redis, ms: number): Promise<readonly AnnouncedUrl[]> {
  const members = await redis.zrangebyscore(redisKeys.serviceUrls, ms, '+inf');
  return members.map((member) => {
    const [kind, url = ''] = member.split(' ');
    return { url, isSet: kind === 'set' };
  });
}

/** True for the host of a URL that only its own machine reaches. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
}

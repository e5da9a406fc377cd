import { setTimeout as sleep } from 'node:timers/promises';

import type { Redis } from 'ioredis';

import { openDirect, type Deployment } from '../deployment.ts';

/** Repeats a command until Redis takes it: it may stand still, or be without room. */
export async function redisUntil(
  { store }: Pick<Deployment, 'store'>,
  command: (redis: Redis) => Promise<unknown>,
): Promise<void> {
  for (let done = false; !done;) {
    const redis = openDirect(await store.masterPort());
    done = await command(redis).then(
      () => true,
      () => false,
    );
    redis.disconnect();
    if (!done) await sleep(50);
  }
}

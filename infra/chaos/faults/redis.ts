import { setTimeout as sleep } from 'node:timers/promises';

import type { Redis } from 'ioredis';

import { openDirect, type Deployment } from '../deployment.ts';

/** Repeats a command until Redis accepts it: Redis may be stopped or out of space. */
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

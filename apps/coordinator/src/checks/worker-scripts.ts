import { createHash } from 'node:crypto';

import { mastersOf } from '@vantage/redis-connections';
import { moveToActive } from 'bullmq/dist/cjs/scripts/moveToActive-11.js';
import { moveToFinished } from 'bullmq/dist/cjs/scripts/moveToFinished-14.js';
import type { Redis } from 'ioredis';

import { loadScripts, type Script } from '../redis/scripts.ts';

/**
 * BullMQ's Lua that agents run. They may not bring it themselves: whoever may send Lua can hang Redis for good. When BullMQ
 * is upgraded, that of the release before stays in this list for one release, for agents that are not upgraded yet.
 */
export const workerScripts: readonly Script[] = [moveToActive, moveToFinished].map(({ content: lua }) => ({
  lua,
  sha: createHash('sha1').update(lua).digest('hex'),
}));

/**
 * Loads what agents run on every master that does not have it: one that restarted, that was flushed, or that became a
 * master just now. Until then agents wait.
 */
export async function keepWorkerScripts(redis: Redis): Promise<void> {
  await Promise.all(
    mastersOf(redis).map(async (master) => {
      const known = (await master.script('EXISTS', ...workerScripts.map(({ sha }) => sha))) as readonly number[];
      const missing = workerScripts.filter((_, index) => known[index] !== 1);
      if (missing.length > 0) await loadScripts(master, missing);
    }),
  );
}

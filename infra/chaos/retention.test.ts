import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';

import { untilProbesAreUp } from '../trial-probes.ts';
import { openDirect, startDeployment, type Deployment } from './deployment.ts';

const RETENTION_SECONDS = 2;

/**
 * Starts at least this many checks in all, on both coordinators in turn: most complete at once, some slowly, and some
 * have an idempotency key.
 */
async function day(deployment: Deployment, checks: number): Promise<void> {
  const { coordinators, targets } = deployment;
  let started = 0;
  const start = async (index: number): Promise<void> => {
    const { url } = coordinators[index % 2]!;
    const quick = { type: 'tcp', host: '127.0.0.1', port: targets.tcpPort, options: { attempts: 1 } };
    const slow = { type: 'udp', host: '127.0.0.1', port: targets.silentPort, options: { attempts: 1 } };
    const response = await fetch(`${url}/check`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(index % 10 === 0 ? { 'idempotency-key': `day-${index}` } : {}),
      },
      body: JSON.stringify(index % 7 === 0 ? slow : quick),
    });
    await response.body?.cancel();
    if (response.status === 202) started += 1;
  };
  for (let index = 0; started < checks; index += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, offset) => start(index + offset)));
  }
}

/** Keys without an expiry, with their bytes. */
async function lasting(redis: Redis): Promise<ReadonlyMap<string, number>> {
  const keys = await redis.keys('*');
  const found = new Map<string, number>();
  for (const key of keys.toSorted()) {
    // The key may have expired between the list and the read.
    const [leftMs, bytes] = await Promise.all([redis.pttl(key), redis.memory('USAGE', key)]);
    if (leftMs === -1) found.set(key, Number(bytes));
  }
  return found;
}

async function untilSettled(redis: Redis): Promise<ReadonlyMap<string, number>> {
  for (;;) {
    const keys = await redis.keys('*');
    const isChecksOwn = (key: string): boolean => /^check:|^deadlines$|:res$|:jobs:[A-Za-z0-9_-]{22}/.test(key);
    const open = keys.filter((key) => isChecksOwn(key) && !key.endsWith(':res'));
    const unread = await Promise.all(keys.filter((key) => key.endsWith(':res')).map((key) => redis.xlen(key)));
    if (open.length === 0 && unread.every((length) => length === 0)) return lasting(redis);
    await sleep(200);
  }
}

describe('Redis after a day of checks', () => {
  it('holds what it held before, and nothing that does not end', async () => {
    const deployment = await startDeployment({
      agents: 2,
      store: 'single',
      coordinatorEnv: { RESULT_RETENTION_SECONDS: String(RETENTION_SECONDS) },
    });
    const redis = openDirect(await deployment.store.masterPort());
    try {
      // BullMQ's event stream reaches its maximum length, up to two nodes of a hundred entries, and stays there.
      await day(deployment, 80);
      const before = await untilSettled(redis);

      await day(deployment, 120);
      const agent = deployment.agents[0]!;
      await agent.part.kill();
      await day(deployment, 20);
      agent.part.start();
      await untilProbesAreUp(deployment.coordinators[0]!.url, 2);
      const after = await untilSettled(redis);

      // Keys of a probe's queue that the first day need not have written.
      const known = (key: string): boolean => before.has(key) || /:jobs:(meta|events|id|marker)$/.test(key);
      expect([...after.keys()].filter((key) => !known(key))).toEqual([]);
      const grown = [...after].filter(([key, bytes]) => bytes > (before.get(key) ?? 0) * 1.5 + 4_096);
      expect(grown).toEqual([]);
    } finally {
      redis.disconnect();
      await deployment.stop();
    }
  }, 600_000);
});

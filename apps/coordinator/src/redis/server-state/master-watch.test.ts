import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openFailFast, openSubscriber, serverOf } from '@vantage/redis-connections';
import { findRedisServer, startRedisSentinel, type RedisSentinel } from '@vantage/redis-server';
import type { Redis } from 'ioredis';

import { quiet } from '../../../test/core-bed.ts';
import { writeCheck } from '../../checks/store/records/new-check.ts';
import { drawId } from '../../checks/create/draw-id.ts';
import { createLiveChecks } from '../../checks/read/follow-checks.ts';
import { createReads } from '../../checks/read/read-check.ts';
import { openChannels, type Channels } from '../channels.ts';
import { createMasterWatch } from './master-watch.ts';
import { createReplicaWait } from './replica-wait.ts';

let set: RedisSentinel;
let channels: Channels;
/** Connection of a coordinator that has not noticed the stall of its master. */
let late: Redis;
/** Connection of a coordinator that found the new master. */
let there: Redis;
const never = new AbortController().signal;

beforeAll(async () => {
  set = await startRedisSentinel(findRedisServer(process.env['PATH'] ?? '')!);
  channels = openChannels(openSubscriber({ url: set.url, name: 'test', log: quiet }), () => undefined);
  late = await open();
});

afterAll(async () => {
  channels.stop();
  for (const each of [late, there, channels.connection]) each?.disconnect();
  await set.stop();
});

async function open(): Promise<Redis> {
  const connection = openFailFast({ url: set.url, name: 'test', log: quiet });
  await once(connection, 'ready');
  return connection;
}

function checkOf(id: string): Parameters<typeof writeCheck>[1] {
  return { id, type: 'tcp', host: 'target.example', createdAt: 1, deadlineAt: 60_001, probes: ['fra-1'] };
}

describe('a coordinator whose master was replaced', () => {
  it('says of no check that it is not there, refuses new ones, and goes to the new master', async () => {
    const master = createMasterWatch(late, () => [late]);
    const reads = createReads(late, channels, master);
    const live = createLiveChecks({ redis: late, channels, master, log: quiet });
    const replicas = createReplicaWait({
      connection: late,
      writer: late,
      master,
      replicas: 1,
      withinMs: 1_000,
      log: quiet,
    });
    const absent = await reads.read(drawId(), 0, never);
    const old = set.servers[0];

    process.kill(old.pid, 'SIGSTOP');
    while ((await set.masterPort()) === old.port) await sleep(50);
    process.kill(old.pid, 'SIGCONT');
    there = await open();
    const id = drawId();
    await writeCheck(there, checkOf(id), 60_000);
    const server = replicas.server();
    const written = await writeCheck(late, checkOf(drawId()), 60_000);
    const [read, followed, waited, accepted] = await Promise.allSettled([
      reads.read(id, 0, never),
      live.follow(id, () => undefined),
      reads.read(id, 1_000, never),
      replicas.settled(['deadlines'], server),
    ]);

    expect(absent).toBeUndefined();
    // The connection still leads to the replaced server, which accepted the write.
    expect([server, written]).toEqual([serverOf(late), undefined]);
    expect(server).not.toBe(serverOf(there));
    for (const outcome of [read, followed, waited, accepted]) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailable' } });
    }

    const connected = once(late, 'ready');
    await master.poll();
    await connected;
    // A Sentinel that has not learned of the failover yet leads to the replaced server again; the next poll disconnects
    // from it.
    while (serverOf(late) !== serverOf(there)) {
      await sleep(100);
      await master.poll();
    }
    expect(await reads.read(id, 0, never)).toMatchObject({ testId: id, status: 'pending' });
    // The Sentinels learn of the failover one after another.
    while ((await reads.read(drawId(), 0, never).catch(() => 'unknown')) !== undefined) await sleep(20);
  });
});

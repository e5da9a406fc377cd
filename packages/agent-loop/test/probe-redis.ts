import { randomBytes } from 'node:crypto';

import { HEARTBEAT_NOTIFICATION, JOB_QUEUE, redisKeys } from '@vantage/contract';
import { findRedisServer, startRedisServer } from '@vantage/redis-server';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';

/** A private Redis with the coordinator's side of one probe's wire. */
export interface ProbeRedis {
  readonly url: string;
  readonly pid: number;
  /** Adds a job with a deadline in a minute. Resolves with the id of its check. */
  readonly addJob: () => Promise<string>;
  /** Results of the probe so far, as JSON by check id. */
  readonly results: () => Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>>;
  readonly heartbeat: () => Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Closes all connections of the agent; does nothing while one of them is not yet in use. */
  readonly cut: () => Promise<void>;
  /** Adds a login for the agent. @returns the address with it */
  readonly addLogin: () => Promise<string>;
  /** Accepts the login of `addLogin`, or refuses it and ends its connections. */
  readonly acceptLogin: (isAccepted: boolean) => Promise<void>;
  /** Removes a job from the queue as a suspension does. */
  readonly takeOut: (id: string) => Promise<void>;
  /** Number of waiting and active jobs. */
  readonly left: () => Promise<number>;
  /** Calls of a command that Redis has begun, also of those that still block. */
  readonly calls: (command: string) => Promise<number>;
  /** Counts announcements of heartbeats from now on. */
  readonly announcements: () => Promise<() => number>;
  readonly stop: () => Promise<void>;
}

/** Name and password of a login. */
const LOGIN = 'agent';

/** Connections of an agent: for commands, to wait for jobs, for results. */
const CONNECTIONS = 3;

export async function startProbeRedis(probe: string): Promise<ProbeRedis> {
  const executable = findRedisServer(process.env['PATH'] ?? '');
  if (executable === undefined) throw new Error('These tests need redis-server or valkey-server.');
  const server = await startRedisServer({ executable });
  const redis = new Redis(server.url, { maxRetriesPerRequest: null });
  // Connected at its first use: `cut` takes every other connection for one of the agent.
  const subscriber = redis.duplicate({ lazyConnect: true });
  const queue = openQueue(redis, probe);
  return {
    url: server.url,
    pid: server.pid,
    addJob: async () => {
      const checkId = randomBytes(16).toString('base64url');
      const data = { v: 1, checkId, type: 'tcp', params: {}, deadlineAt: Date.now() + 60_000 };
      await queue.add('tcp', data, { jobId: checkId, attempts: 1 });
      return checkId;
    },
    results: async () => {
      const entries = await redis.xrange(redisKeys.results(probe), '-', '+');
      return new Map(
        entries.map(([, fields]) => [
          fields[fields.indexOf('check') + 1]!,
          JSON.parse(fields[fields.indexOf('data') + 1]!) as Readonly<Record<string, unknown>>,
        ]),
      );
    },
    heartbeat: async () => {
      const json = await redis.get(redisKeys.heartbeat(probe));
      return json === null ? undefined : (JSON.parse(json) as Readonly<Record<string, unknown>>);
    },
    cut: async () => {
      const clients = ((await redis.client('LIST')) as string).trim().split('\n');
      const ofAgent = clients.filter((client) => !/ cmd=client\|list /.test(client));
      const areReady = ofAgent.every((client) => !/ cmd=(client|info|NULL)/.test(client));
      if (ofAgent.length >= CONNECTIONS && areReady)
        await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    },
    ...suspending(redis, server.url, probe),
    left: async () => (await queue.getWaitingCount()) + (await queue.getActiveCount()),
    calls: async (command) =>
      Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(await redis.info('commandstats'))?.[1] ?? 0),
    announcements: async () => {
      let count = 0;
      subscriber.on('message', (_channel, message) => {
        if (message === HEARTBEAT_NOTIFICATION) count += 1;
      });
      await subscriber.subscribe(redisKeys.resultNotification(probe));
      return () => count;
    },
    stop: async () => {
      await queue.close();
      for (const each of [redis, subscriber]) each.disconnect();
      await server.stop();
    },
  };
}

function openQueue(connection: Redis, probe: string): Queue {
  const prefix = redisKeys.queuePrefix(probe);
  return new Queue(JOB_QUEUE, { connection, prefix, skipVersionCheck: true, skipMetasUpdate: true });
}

/** The effects of a suspension: the login is refused, and jobs are taken out of the queue. */
function suspending(
  redis: Redis,
  url: string,
  probe: string,
): Pick<ProbeRedis, 'addLogin' | 'acceptLogin' | 'takeOut'> {
  return {
    addLogin: async () => {
      await redis.call('ACL', 'SETUSER', LOGIN, 'on', `>${LOGIN}`, '~*', '&*', '+@all');
      return url.replace('//', `//${LOGIN}:${LOGIN}@`);
    },
    acceptLogin: async (isAccepted) => {
      await redis.call('ACL', 'SETUSER', LOGIN, isAccepted ? 'on' : 'off');
      if (!isAccepted) await redis.call('CLIENT', 'KILL', 'USER', LOGIN);
    },
    takeOut: async (id) => {
      const prefix = `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:`;
      await redis.unlink(`${prefix}${id}`);
      await redis.lrem(`${prefix}active`, 1, id);
    },
  };
}

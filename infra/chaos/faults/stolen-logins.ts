import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { agentRights, agentUser, redisKeys } from '@vantage/contract';

import { pick, type Fault, type Scene } from './fault.ts';
import { redisUntil } from './redis.ts';

const THIEF = 'chaos-thief';
const PASSWORD = 'stolen';
/** Limit of connections of one agent's user. */
const CONNECTIONS = 6;
const LARGE = 'x'.repeat(3 * 1_048_576);
/** Redis reads each of these requests before it executes or refuses it. */
const largeRequests: readonly (readonly string[])[] = [
  ['AUTH', agentUser(THIEF), LARGE],
  ['HGETALL', LARGE],
  ['DEL', ...Array.from({ length: 100_000 }, () => redisKeys.heartbeat(THIEF))],
];
const SUSPENDED_WITHIN_MS = 60_000;
const AGAIN_MS = 100;

/** Requests that the holder of an agent's login sends to Redis. */
export const stolenLogins: readonly Fault[] = [
  {
    name: 'a stolen login sends requests of megabytes',
    store: 'single',
    inject: async (scene) => {
      scene.harm('store');
      const end = await attack(scene, pick(largeRequests, scene.random));
      try {
        await untilSuspended(scene);
      } finally {
        end();
      }
    },
  },
  {
    // Affects no request: other clients are slower, but none is refused.
    name: 'a stolen login sends commands without end',
    store: 'single',
    inject: async (scene) => {
      const end = await attack(scene, ['TIME']);
      await sleep(10_000 * scene.scale);
      end();
    },
  },
];

/** @returns a function that ends the attack */
async function attack({ deployment }: Scene, request: readonly string[]): Promise<() => void> {
  const rights = ['reset', 'on', `>${PASSWORD}`, ...agentRights(THIEF)];
  await redisUntil(deployment, async (redis) => {
    await redis.hdel(redisKeys.suspended, THIEF);
    await redis.call('ACL', 'SETUSER', agentUser(THIEF), ...rights);
  });
  const bytes = encode(request);
  const batch = Buffer.concat(Array.from({ length: Math.max(1, Math.floor(50_000 / bytes.length)) }, () => bytes));
  const ending = new AbortController();
  for (let index = 0; index < CONNECTIONS; index += 1) flood(deployment.store.port!, batch, ending.signal);
  return () => ending.abort();
}

/** Sends a batch repeatedly until the signal, and reconnects when its connection is closed, as a thief would. */
function flood(port: number, batch: Buffer, signal: AbortSignal): void {
  const socket = connect({ port, host: '127.0.0.1', signal });
  const again = (error?: Error | null): void => {
    if (!error && socket.writable) socket.write(batch, again);
  };
  socket.on('error', () => undefined).resume();
  socket.once('close', () => {
    if (!signal.aborted) setTimeout(() => signal.aborted || flood(port, batch, signal), AGAIN_MS);
  });
  socket.write(encode(['AUTH', agentUser(THIEF), PASSWORD]), again);
}

/** A request as Redis reads it. */
function encode(words: readonly string[]): Buffer {
  return Buffer.from(`*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`);
}

async function untilSuspended({ deployment, unended }: Scene): Promise<void> {
  const startedAt = performance.now();
  for (let isSuspended = false; !isSuspended;) {
    if (performance.now() - startedAt > SUSPENDED_WITHIN_MS) {
      unended('A stolen login was not suspended.');
      return;
    }
    await redisUntil(deployment, async (redis) => {
      isSuspended = (await redis.hexists(redisKeys.suspended, THIEF)) === 1;
    });
    await sleep(100);
  }
}

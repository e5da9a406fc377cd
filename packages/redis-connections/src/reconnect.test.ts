import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';

import { openPatient } from './open.ts';

let redisServer: RedisServer;
let line: Server;
let isLost = false;
let lost = 0;
const sockets = new Set<Socket>();

beforeAll(async () => {
  redisServer = await startRedisServer({ executable: findRedisServer(process.env['PATH'] ?? '')! });
  line = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    // Simulates lost packets: the connection never gets an answer.
    if (isLost) {
      lost += 1;
      return;
    }
    const onward = connect(redisServer.port, '127.0.0.1').on('error', () => undefined);
    socket.pipe(onward).pipe(socket);
  });
  line.listen(0, '127.0.0.1');
  await once(line, 'listening');
});

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  line.close();
  await redisServer.stop();
});

function open(): Redis {
  const { port } = line.address() as AddressInfo;
  const log = { info: () => undefined, warn: () => undefined };
  // With TLS, an attempt is not complete when the kernel has accepted the connection.
  return openPatient({ url: `rediss://127.0.0.1:${port}`, keyInUse: 'x', name: 'test', resend: false, log });
}

it('an agent connects at most 3.5 s after an attempt that was lost', () => {
  const redis = open();
  const { connectTimeout = Infinity, retryStrategy } = redis.options;
  const pauses = Array.from({ length: 100 }, () => Number(retryStrategy?.(1)));
  redis.disconnect();

  expect(connectTimeout + Math.max(...pauses)).toBeLessThanOrEqual(3_500);
});

it('a lost attempt is followed by another one', async () => {
  isLost = true;
  const redis = open();
  redis.on('error', () => undefined);

  // `once` of `node:events` would reject with the error of the lost attempt.
  while (lost < 2) await new Promise<void>((resolve) => void redis.once('reconnecting', () => resolve()));
  isLost = false;
  redis.disconnect();

  expect(lost).toBeGreaterThanOrEqual(2);
});

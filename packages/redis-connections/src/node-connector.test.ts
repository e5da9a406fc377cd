import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

import { expect, it } from '@jest/globals';
import { findRedisServer, startRedisServer } from '@vantage/redis-server';

import { nodeConnector } from './node-connector.ts';
import { openOnce } from './open.ts';

it('a connection to a node survives a second error, which TLS can report when a refused one is ended', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const errors: string[] = [];
  const Connector = nodeConnector(({ message }) => void errors.push(message));
  const stream = await new Connector({ host: '127.0.0.1', port }).connect(() => undefined);
  // ioredis, too, listens for one error only.
  stream.once('error', () => undefined);

  const emitted = [stream.emit('error', new Error('refused')), stream.emit('error', new Error('alert'))];

  expect(emitted).toEqual([true, true]);
  expect(errors).toEqual(['refused']);
  stream.destroy();
  server.close();
});

it('a reply stays as it was when others are read, and one larger than a read is whole', async () => {
  const server = await startRedisServer({ executable: findRedisServer(process.env['PATH'] ?? '')! });
  const redis = await openOnce({ url: server.url, name: 'test' });
  const large = 'ä€🙂'.repeat(60_000);
  await redis.mset({ kept: 'kept'.repeat(1_000), other: 'other'.repeat(1_000), large });

  const kept = await redis.getBuffer('kept');
  const others = await Promise.all([redis.get('other'), redis.get('large'), redis.getBuffer('large')]);

  expect(kept?.toString()).toBe('kept'.repeat(1_000));
  expect(others.map((reply) => reply?.toString())).toEqual(['other'.repeat(1_000), large, large]);
  expect(redis.stream.readableLength).toBe(0);
  redis.disconnect();
  await server.stop();
});

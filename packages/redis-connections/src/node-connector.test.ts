import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

import { expect, it } from '@jest/globals';

import { nodeConnector } from './node-connector.ts';

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

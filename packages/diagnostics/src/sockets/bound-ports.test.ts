import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';

import { isBoundPort } from './bound-ports.ts';

describe('a local port', () => {
  it('is bound while a UDP socket has it', async () => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const { port } = socket.address();
    const before = await isBoundPort('udp', port);
    socket.close();
    await once(socket, 'close');

    expect([before, await isBoundPort('udp', port)]).toEqual([true, false]);
  });

  it('is bound while a TCP server listens on it', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const before = await isBoundPort('tcp', port);
    server.close();
    await once(server, 'close');

    expect([before, await isBoundPort('tcp', port)]).toEqual([true, false]);
  });
});

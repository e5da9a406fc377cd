import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { anyCoordinator, type Fault } from './fault.ts';

/** Behaviour of other clients, which must not cause refusals for the observing client. */
export const clients: readonly Fault[] = [
  {
    name: 'connection storm',
    inject: async (scene) => {
      const { url } = anyCoordinator(scene);
      for (let wave = 0; wave < 4; wave += 1) {
        const sockets = openMany(
          url,
          400,
          '127.0.0.2',
          wave % 2 === 0 ? 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n' : 'GET /',
        );
        await sleep(1_500 * scene.scale);
        for (const socket of sockets) socket.resetAndDestroy();
      }
    },
  },
  {
    name: 'replies that a client does not read',
    inject: async (scene) => {
      const request = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(50);
      const sockets = openMany(anyCoordinator(scene).url, 50, '127.0.0.3', request);
      for (const socket of sockets) socket.pause();
      await sleep(10_000 * scene.scale);
      for (const socket of sockets) socket.destroy();
    },
  },
];

function openMany(url: string, count: number, localAddress: string, request: string): readonly Socket[] {
  const { hostname, port } = new URL(url);
  return Array.from({ length: count }, () => {
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    socket.on('error', () => undefined);
    void once(socket, 'connect').then(
      () => socket.write(request),
      () => undefined,
    );
    return socket;
  });
}

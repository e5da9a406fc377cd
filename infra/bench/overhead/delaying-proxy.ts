import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy that delays every byte by the same time in each direction, without limiting the rate. */
export interface DelayingProxy {
  readonly port: number;
  readonly close: () => void;
}

/** @param oneWayMs half of the round-trip time that the proxy adds */
export async function startDelayingProxy(targetPort: number, oneWayMs: number): Promise<DelayingProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('data', (chunk) => setTimeout(() => to.write(chunk), oneWayMs));
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        setTimeout(() => to.destroy(), oneWayMs);
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

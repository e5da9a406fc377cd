import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A relay between agents and the service, which the test can interrupt. */
export interface Relay {
  /** Connections to this port are forwarded to the given one. */
  readonly port: number;
  /** Port of an HTTP CONNECT proxy to any local port. */
  readonly proxyPort: number;
  /** Ends all connections, and each new one at once, until `heal` is called. */
  readonly cut: () => void;
  readonly heal: () => void;
  readonly close: () => void;
}

export async function startRelay(toPort: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let isCut = false;

  const join = (client: Socket, port: number, onOpen: () => void = () => undefined): void => {
    if (isCut) return void client.destroy();
    const upstream = connect(port, '127.0.0.1', onOpen);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  };

  const server = createServer((client) => join(client, toPort)).listen(0, '127.0.0.1');
  const proxy = createHttpServer().on('connect', ({ url }: IncomingMessage, client: Socket) => {
    client.on('error', () => undefined);
    const established = (): boolean => client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    join(client, Number(new URL(`tcp://${url}`).port), established);
  });
  proxy.listen(0, '127.0.0.1');
  await Promise.all([once(server, 'listening'), once(proxy, 'listening')]);

  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    proxyPort: (proxy.address() as AddressInfo).port,
    cut,
    heal: () => (isCut = false),
    close: () => {
      cut();
      server.close();
      proxy.close();
    },
  };
}

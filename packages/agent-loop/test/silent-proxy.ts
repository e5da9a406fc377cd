import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

type Direction = 'there' | 'back';

/** A proxy to a server that can fall silent without closing connections. */
export interface SilentProxy {
  readonly port: number;
  /** Holds back data in these directions, on existing and new connections. */
  readonly hold: (...directions: readonly Direction[]) => void;
  /** Delivers the held data, and holds back nothing more. */
  readonly release: () => void;
  /** Drops all further data of the existing connections without closing them; new connections work. */
  readonly forget: () => void;
  readonly close: () => void;
}

export async function startSilentProxy(port: number): Promise<SilentProxy> {
  const sockets = new Set<Socket>();
  let held = new Set<Direction>();
  const waiting: (() => void)[] = [];
  let generation = 0;

  const pass = (from: Socket, to: Socket, direction: Direction, born: number): void => {
    sockets.add(from);
    const deliver = (act: () => void): void => {
      if (born !== generation) return;
      if (held.has(direction)) waiting.push(act);
      else act();
    };
    from.on('data', (chunk) => deliver(() => to.write(chunk)));
    from.on('error', () => undefined);
    from.on('close', () => deliver(() => to.destroy()));
  };
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    pass(client, upstream, 'there', generation);
    pass(upstream, client, 'back', generation);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    hold: (...directions) => (held = new Set(directions)),
    release: () => {
      held = new Set();
      for (const act of waiting.splice(0)) act();
    },
    forget: () => (generation += 1),
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

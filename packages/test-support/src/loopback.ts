import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface Loopback {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Starts a server on a free port of a loopback address; closing it ends its connections too. */
export async function startServer(server: Server, host = '127.0.0.1'): Promise<Loopback> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Starts a server without a protocol: the handler gets the bare connection. */
export function startRawServer(onConnection: (socket: Socket) => void, host?: string): Promise<Loopback> {
  return startServer(createServer({ allowHalfOpen: true }, onConnection), host);
}

/** Several servers that end together. */
export function servers(): {
  readonly start: (server: Server, host?: string) => Promise<number>;
  readonly startRaw: (onConnection: (socket: Socket) => void, host?: string) => Promise<number>;
  readonly closeAll: () => Promise<void>;
} {
  const started: Loopback[] = [];
  const keep = async (starting: Promise<Loopback>): Promise<number> => {
    const server = await starting;
    started.push(server);
    return server.port;
  };
  return {
    start: (server, host) => keep(startServer(server, host)),
    startRaw: (onConnection, host) => keep(startRawServer(onConnection, host)),
    closeAll: async () => {
      await Promise.all(started.splice(0).map(({ close }) => close()));
    },
  };
}

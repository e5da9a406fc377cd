import { once } from 'node:events';
import { createServer } from 'node:net';

/** Range of ports: below the ephemeral ranges of Linux and macOS, above well-known ports. */
const PORTS = { from: 12_000, to: 32_000 } as const;

/**
 * Returns a free loopback port outside the ephemeral range, so that the kernel does not assign it to another socket
 * before the server binds it or while it restarts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if (Error.isError(error) && 'code' in error && error.code === 'EADDRINUSE') continue;
      // Any other error, such as that of a missing loopback address, would recur for every port without end.
      throw error;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * A port of 127.0.0.1 that refuses TCP and UDP and cannot be taken by another process: connected sockets reserve it.
 */
export async function closedPort(): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  const [accepted] = (await once(server, 'connection')) as [Socket];
  server.close();
  const udp = createSocket('udp4').bind(port, '127.0.0.1');
  const bound = await once(udp, 'listening').then(
    () => true,
    () => false,
  );
  const close = async (): Promise<void> => {
    const gone = [client, accepted].map((socket) => once(socket.destroy(), 'close'));
    await Promise.all([...gone, new Promise<void>((resolve) => udp.close(resolve))]);
  };
  if (!bound) {
    await close();
    return closedPort();
  }
  // A connected socket takes packets of its peer only: here itself, and it sends nothing.
  udp.connect(port, '127.0.0.1');
  await once(udp, 'connect');
  return { port, close };
}

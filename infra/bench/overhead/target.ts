import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** A TCP server on loopback that records the time of each connection: with one attempt this is when a job measures. */
export interface TcpTarget {
  readonly port: number;
  /** Resolves with the times of the next `count` connections, milliseconds on this process' clock. */
  readonly arrivals: (count: number) => Promise<readonly number[]>;
  readonly close: () => void;
}

export async function startTarget(): Promise<TcpTarget> {
  let listener: (at: number) => void = () => undefined;
  const server = createServer((socket) => {
    listener(performance.now());
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1', 4_096);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    arrivals: (count) =>
      new Promise((resolve) => {
        const times: number[] = [];
        listener = (at) => {
          times.push(at);
          if (times.length === count) resolve(times);
        };
      }),
    close: () => void server.close(),
  };
}

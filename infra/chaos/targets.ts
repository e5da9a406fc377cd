import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';

/** Targets of the checks, on loopback. */
export interface Targets {
  readonly tcpPort: number;
  /** Port of a web page. */
  readonly httpPort: number;
  /** Receives datagrams and never answers: a udp check waits there for its full time. */
  readonly silentPort: number;
  readonly close: () => void;
}

export async function openTargets(): Promise<Targets> {
  const tcp = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end();
  });
  tcp.listen(0, '127.0.0.1', 4_096);
  const http = createHttpServer((_request, response) => response.end('<!doctype html><title>Target</title><p>Hello'));
  http.listen(0, '127.0.0.1');
  const silent = createSocket('udp4');
  silent.bind(0, '127.0.0.1');
  await Promise.all([once(tcp, 'listening'), once(http, 'listening'), once(silent, 'listening')]);
  return {
    tcpPort: (tcp.address() as AddressInfo).port,
    httpPort: (http.address() as AddressInfo).port,
    silentPort: silent.address().port,
    close: () => {
      tcp.close();
      http.close();
      silent.close();
    },
  };
}

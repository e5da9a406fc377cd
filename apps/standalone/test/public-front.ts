import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, isIPv6, type AddressInfo, type Socket } from 'node:net';
import { createServer, type Server } from 'node:tls';

import type { Certificate } from './certificates.ts';

/** The public address of coordinators. */
export interface Front {
  readonly url: string;
  readonly port: number;
  /** Port of the coordinator that `route` set. */
  readonly target: () => number;
  readonly route: (port: number) => void;
  readonly close: () => void;
}

/** A front for a program that terminates TLS itself at this port. */
export function noFront(port: number): Front {
  let target = 0;
  const route: Front['route'] = (next) => {
    target = next;
  };
  return { url: `https://127.0.0.1:${port}`, port, target: () => target, route, close: () => undefined };
}

/** Terminates TLS and forwards the bytes to one coordinator. */
export async function startFront({ keyFile, caFile }: Certificate, host: string): Promise<Front> {
  const sockets = new Set<Socket>();
  let target = 0;
  const server: Server = createServer({ key: readFileSync(keyFile), cert: readFileSync(caFile) }, (client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
    }
  }).listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    port,
    target: () => target,
    route: (next) => {
      target = next;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

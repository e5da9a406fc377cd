import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';

import { startDnsServer } from '@vantage/test-support/dns/server';
import { addressRecord, respond } from '@vantage/test-support/dns/wire';

/** Targets of the checks, on loopback. */
export interface Targets {
  readonly tcpPort: number;
  /** Port of a web page. */
  readonly httpPort: number;
  /** Receives datagrams and never answers: a udp check waits there for its full time. */
  readonly silentPort: number;
  /** Resolves every name to 127.0.0.1. */
  readonly resolver: Resolver;
  readonly close: () => void;
}

export interface Resolver {
  readonly port: number;
  /** Makes the resolver answer nothing, or answer again. */
  readonly silence: (isSilent: boolean) => void;
}

/** A public name, which only the trial's resolver is asked for. */
export const TARGET_NAME = 'www.iana.org';
const TYPE_A = 1;

export async function openTargets(): Promise<Targets> {
  let isSilent = false;
  const dns = await startDnsServer((query) => {
    const answers = query.type === TYPE_A ? [addressRecord(query.name, '127.0.0.1')] : [];
    return isSilent ? [] : [respond(query, { answers })];
  });
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
    resolver: {
      port: dns.port,
      silence: (silence) => {
        isSilent = silence;
      },
    },
    close: () => {
      tcp.close();
      http.close();
      silent.close();
      void dns.close();
    },
  };
}

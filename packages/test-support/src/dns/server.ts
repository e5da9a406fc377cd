import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

import { freeServerPort } from '../daemon.ts';
import { readQuery, type WireQuery } from './wire.ts';

export type Via = 'udp' | 'tcp' | 'tls' | 'https';

/** Answers one query with any number of messages, none for silence. */
export type AnswerDns = (query: WireQuery, via: Via) => readonly Uint8Array[];

export interface DnsServer {
  readonly port: number;
  readonly queries: readonly { readonly via: Via; readonly query: WireQuery }[];
  readonly close: () => Promise<void>;
}

export interface DnsServerOptions {
  readonly address?: string;
  /** 0 or undefined for a free one. */
  readonly port?: number;
  /** True if the port refuses connections over TCP. */
  readonly udpOnly?: boolean;
}

/** A name server over UDP and TCP on the same port, on 127.0.0.1 unless an address is given. */
export async function startDnsServer(answer: AnswerDns, options: DnsServerOptions = {}): Promise<DnsServer> {
  const { address = '127.0.0.1', port = 0, udpOnly = false } = options;
  const queries: { via: Via; query: WireQuery }[] = [];
  const answered = recorded(answer, queries);
  const tcp = createServer((socket) => serveStream(socket, (query) => answered(query, 'tcp')));
  const udp = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  udp.on('message', (bytes, { address, port }) => {
    for (const message of answered(bytes, 'udp')) udp.send(message, port, address);
  });
  const chosen = await listen(tcp, port === 0 ? await freeServerPort() : port, address);
  udp.bind(chosen, address);
  await once(udp, 'listening');
  if (udpOnly) await closeServer(tcp);
  return {
    port: chosen,
    queries,
    close: async () => {
      udp.close();
      if (!udpOnly) await closeServer(tcp);
    },
  };
}

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A name server over TLS on loopback. */
export async function startDnsOverTls(certificate: Certificate, answer: AnswerDns): Promise<DnsServer> {
  const queries: { via: Via; query: WireQuery }[] = [];
  const answered = recorded(answer, queries);
  const server = createTlsServer({ ...certificate, ALPNProtocols: ['dot'] }, (socket) => {
    serveStream(socket, (query) => answered(query, 'tls'));
  });
  const port = await listen(server, 0, '127.0.0.1');
  return { port, queries, close: () => closeServer(server) };
}

export interface HttpAnswer {
  readonly status?: number;
  readonly contentType?: string;
  /** Value of the Age header. */
  readonly age?: string;
}

/** A name server over HTTPS on loopback, with HTTP/2 and HTTP/1.1 or with the latter alone. */
export async function startDnsOverHttps(
  certificate: Certificate,
  answer: AnswerDns,
  {
    http2 = true,
    status = 200,
    contentType = 'application/dns-message',
    age,
  }: HttpAnswer & { readonly http2?: boolean } = {},
): Promise<DnsServer> {
  const queries: { via: Via; query: WireQuery }[] = [];
  const answered = recorded(answer, queries);
  const protocols = http2 ? {} : { ALPNProtocols: ['http/1.1'] };
  const server = createSecureServer({ ...certificate, allowHTTP1: true, ...protocols }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const fits = request.method === 'POST' && request.url === '/dns-query';
      response.writeHead(fits ? status : 404, { 'content-type': contentType, ...(age === undefined ? {} : { age }) });
      response.end(Buffer.concat(fits ? answered(Buffer.concat(chunks), 'https') : []));
    });
  });
  const port = await listen(server, 0, '127.0.0.1');
  return { port, queries, close: () => closeServer(server) };
}

function recorded(
  answer: AnswerDns,
  queries: { via: Via; query: WireQuery }[],
): (bytes: Uint8Array, via: Via) => readonly Uint8Array[] {
  return (bytes, via) => {
    const query = readQuery(bytes);
    queries.push({ via, query });
    return answer(query, via);
  };
}

function serveStream(socket: Socket, answered: (query: Uint8Array) => readonly Uint8Array[]): void {
  let received = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
    for (const message of answered(received.subarray(2))) {
      socket.write(Buffer.concat([Buffer.of(message.length >> 8, message.length & 0xff), message]));
    }
  });
}

async function listen(server: Server, port: number, address: string): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  open.set(server, sockets);
  server.listen(port, address);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const open = new WeakMap<Server, Set<Socket>>();

async function closeServer(server: Server): Promise<void> {
  for (const socket of open.get(server) ?? []) socket.destroy();
  server.close();
  await once(server, 'close');
}

import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';

/** Real servers on loopback, as targets. */
export interface Targets {
  readonly tcpPort: number;
  /** Echoes datagrams. */
  readonly udpPort: number;
  /** Receives datagrams and never answers. */
  readonly silentPort: number;
  readonly httpPort: number;
  readonly httpsPort: number;
  /**
   * Answers 127.0.0.1 for names in example.com, but 192.168.1.1 for `private.example.com`; also ::1 for
   * `both.example.com`, REFUSED for `refused.example.com`, and NXDOMAIN for `missing.example.com` and names elsewhere.
   */
  readonly dnsPort: number;
  /** File of the CA certificate of the HTTPS server. */
  readonly caFile: string;
  readonly close: () => void;
}

export const PAGE = '<!doctype html><title>Target</title><p>Hello, probe.</p>';

/** @param folder for keys and certificates, which openssl generates */
export async function startTargets(folder: string): Promise<Targets> {
  const { caFile, key, cert } = makeCertificate(folder);
  const answer = (_request: unknown, response: { end: (text: string) => void }): void => response.end(PAGE);
  const tcp = await listen(createServer((socket) => socket.on('error', () => undefined)));
  const http = await listen(createHttpServer(answer));
  const https = await listen(createHttpsServer({ key, cert }, answer));
  const udp = await bind((message, reply) => reply(message));
  const silent = await bind(() => undefined);
  const dns = await bind((message, reply) => reply(dnsAnswer(message)));
  const servers = [tcp, http, https];
  return {
    tcpPort: portOf(tcp),
    httpPort: portOf(http),
    httpsPort: portOf(https),
    udpPort: udp.port,
    silentPort: silent.port,
    dnsPort: dns.port,
    caFile,
    close: () => {
      for (const server of servers) server.close();
      for (const socket of [udp, silent, dns]) socket.close();
    },
  };
}

async function listen<S extends Server>(server: S): Promise<S> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function bind(
  onMessage: (message: Buffer, reply: (answer: Buffer) => void) => void,
): Promise<{ readonly port: number; readonly close: () => void }> {
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => onMessage(message, (answer) => socket.send(answer, from.port, from.address)));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { port: socket.address().port, close: () => void socket.close() };
}

const A_RECORD = [0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 127, 0, 0, 1];
const PRIVATE_A_RECORD = [...A_RECORD.slice(0, -4), 192, 168, 1, 1];
const AAAA_RECORD = [0xc0, 12, 0, 28, 0, 1, 0, 0, 1, 44, 0, 16, ...Array<number>(15).fill(0), 1];

/** Encodes a DNS response (RFC 1035 section 4): an address record, no data, NXDOMAIN, or REFUSED. */
function dnsAnswer(query: Buffer): Buffer {
  let end = 12;
  const labels: string[] = [];
  while (query[end]! > 0) {
    labels.push(query.toString('latin1', end + 1, end + 1 + query[end]!));
    end += query[end]! + 1;
  }
  const type = query.readUInt16BE(end + 1);
  const question = query.subarray(12, end + 5);
  const name = labels.join('.').toLowerCase();
  const exists = name.endsWith('example.com') && name !== 'missing.example.com';
  const rcode = name === 'refused.example.com' ? 5 : exists ? 0 : 3;
  const isBoth = name === 'both.example.com';
  const ipv4 = name === 'private.example.com' ? PRIVATE_A_RECORD : A_RECORD;
  const record = rcode > 0 ? [] : type === 1 ? ipv4 : type === 28 && isBoth ? AAAA_RECORD : [];
  const header = Buffer.alloc(12);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  header.writeUInt16BE(0x8180 | rcode, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(record.length > 0 ? 1 : 0, 6);
  return Buffer.concat([header, question, Buffer.from(record)]);
}

/** Creates a CA and a certificate for secure.example.com. */
function makeCertificate(folder: string): { readonly caFile: string; readonly key: Buffer; readonly cert: Buffer } {
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const keys = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...keys,
    '-days',
    '30',
    '-subj',
    '/O=Test Authority/CN=Test Authority Root',
    '-keyout',
    file('ca.key'),
    '-out',
    file('ca.pem'),
  );
  openssl('req', ...keys, '-subj', '/CN=secure.example.com', '-keyout', file('leaf.key'), '-out', file('leaf.csr'));
  writeFileSync(file('leaf.ext'), 'subjectAltName=DNS:secure.example.com\n');
  openssl(
    'x509',
    '-req',
    '-in',
    file('leaf.csr'),
    '-days',
    '20',
    '-extfile',
    file('leaf.ext'),
    '-CA',
    file('ca.pem'),
    '-CAkey',
    file('ca.key'),
    '-CAcreateserial',
    '-out',
    file('leaf.pem'),
  );
  return { caFile: file('ca.pem'), key: readFileSync(file('leaf.key')), cert: readFileSync(file('leaf.pem')) };
}

import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { connect } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

import { certificateMint, type Issued } from '@vantage/test-support/certificate-mint';
import { freeServerPort, startDaemon, type Daemon } from '@vantage/test-support/daemon';
import { unpackPackages } from '@vantage/test-support/debian-packages';

export const NGINX = ['nginx'];

/** Servers on loopback for modules with options of requests, as URLs. */
export interface RequestTargets {
  /** nginx that requires a certificate of the client: any path answers. */
  readonly nginx: string;
  /** `openssl s_server` that requires a client certificate, as `host:port`; it serves `/page`. */
  readonly openssl: string;
  /** A server that speaks TLS 1.1 only. */
  readonly oldTls: string;
  /** Responds over HTTP with the request that it received; see `scripted`. */
  readonly echo: string;
  /** Paths of the files that the modules name. */
  readonly files: Readonly<Record<'ca' | 'cert' | 'key' | 'otherCert' | 'otherKey' | 'password', string>>;
  readonly close: () => Promise<void>;
}

export async function startRequestTargets(folder: string): Promise<RequestTargets> {
  const mint = certificateMint();
  const authority = mint.issue({ subject: '/O=Test Authority/CN=Test Authority Root', ca: true });
  const names = ['DNS:target.example', 'IP:127.0.0.1'];
  const server = mint.issue({ issuer: authority, subject: '/CN=target.example', names });
  const clients = mint.issue({ subject: '/O=Clients/CN=Clients Root', ca: true });
  const client = mint.issue({ issuer: clients, subject: '/CN=prober' });
  const other = mint.issue({ issuer: authority, subject: '/CN=stranger' });
  mint.close();
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const own = {
    cert: write('server.pem', server.cert),
    key: write('server.key', server.key),
    clients: write('clients.pem', clients.cert),
  };
  const daemons: Daemon[] = [];
  const nginxPort = await freeServerPort();
  daemons.push(await startNginx(folder, nginxPort, own));
  const opensslPort = await freeServerPort();
  daemons.push(await startOpenssl(folder, opensslPort, own));
  const oldTls = createTlsServer({ ...oldOptions(server) }, (_request, response) => response.end('old\n'));
  oldTls.listen(0, '127.0.0.1');
  await once(oldTls, 'listening');
  const echo = createServer(scripted);
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  return {
    echo: `http://127.0.0.1:${portOf(echo)}`,
    nginx: `https://127.0.0.1:${nginxPort}`,
    openssl: `127.0.0.1:${opensslPort}`,
    oldTls: `https://127.0.0.1:${portOf(oldTls)}`,
    files: {
      password: write('password', 's3cret\n'),
      ca: write('ca.pem', authority.cert),
      cert: write('client.pem', client.cert),
      key: write('client.key', client.key),
      otherCert: write('other.pem', other.cert),
      otherKey: write('other.key', other.key),
    },
    close: async () => {
      oldTls.close();
      echo.close();
      for (const daemon of daemons) await daemon.stop();
    },
  };
}

interface ServerFiles {
  readonly cert: string;
  readonly key: string;
  readonly clients: string;
}

async function startNginx(folder: string, port: number, { cert, key, clients }: ServerFiles): Promise<Daemon> {
  const at = join(folder, 'nginx');
  mkdirSync(at);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${at}/${name};`,
  );
  const text = `daemon off; master_process off; pid ${at}/pid; events { worker_connections 64; }
http { access_log off; ${temporary.join(' ')}
  ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate ${cert}; ssl_certificate_key ${key};
  server { listen 127.0.0.1:${port} ssl http2; ssl_client_certificate ${clients}; ssl_verify_client on;
    location / { return 200 "hello $ssl_client_s_dn\\n"; } } }
`;
  writeFileSync(join(at, 'nginx.conf'), text);
  const words = ['-p', at, '-c', 'nginx.conf', '-e', join(at, 'error.log')];
  return startDaemon(await unpackPackages(...NGINX), 'nginx', words, () => accepts(port));
}

async function startOpenssl(folder: string, port: number, { cert, key, clients }: ServerFiles): Promise<Daemon> {
  const system = { folder: '/', environment: process.env, program: (name: string) => name };
  writeFileSync(join(folder, 'page'), 'Hello from openssl\n');
  const words = ['s_server', '-accept', `127.0.0.1:${port}`, '-cert', cert, '-key', key, '-CAfile', clients];
  const more = ['-Verify', '2', '-verify_return_error', '-WWW'];
  return startDaemon(system, 'openssl', [...words, ...more], () => accepts(port), ['env', '-C', folder]);
}

function oldOptions({ cert, key }: Issued): object {
  return { cert, key, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' };
}

const text = Buffer.from(`${'compressed '.repeat(100)}\n`);
const bodies: Readonly<Record<string, Buffer>> = {
  gzip: gzipSync(text),
  br: brotliCompressSync(text),
  deflate: deflateRawSync(text),
  zlib: deflateSync(text),
  plain: text,
  nothing: Buffer.alloc(0),
};

/**
 * A token server for the client `u` with the secret `s3 cret&`, at `/token/<kind>`. The token contains the scope and
 * the audience that were asked for.
 */
function giveToken(kind: string, request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const asked = new URLSearchParams(Buffer.concat(chunks).toString());
    const isInHeader = request.headers.authorization === `Basic ${Buffer.from('u:s3+cret%26').toString('base64')}`;
    const isInBody = asked.get('client_id') === 'u' && asked.get('client_secret') === 's3 cret&';
    const isKnown = request.method === 'POST' && (kind === 'body' ? isInBody : isInHeader);
    const isGranted = isKnown && kind !== 'refuse' && asked.get('grant_type') === 'client_credentials';
    const token = `for-${asked.get('scope') ?? 'nothing'}-${asked.get('audience') ?? 'all'}`.replaceAll(' ', '_');
    const type = kind === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
    response.writeHead(isGranted ? 200 : 401, { 'Content-Type': type });
    response.end(isGranted ? grantOf(kind, token) : '{"error":"invalid_client"}');
  });
}

function grantOf(kind: string, token: string): string {
  if (kind === 'none') return '{}';
  if (kind === 'form') return `access_token=${token}&token_type=bearer`;
  return JSON.stringify({ access_token: token, token_type: kind === 'own' ? 'Own' : 'bearer', expires_in: 60 });
}

/**
 * `/to/<status>` redirects to `/`, `/as/<name>` serves a body of `bodies`, `/token/<kind>` gives a token, and any other
 * path responds with the request.
 */
function scripted(request: IncomingMessage, response: ServerResponse): void {
  const [, kind, name = ''] = (request.url ?? '').split('/');
  if (kind === 'to') return void response.writeHead(Number(name), { Location: '/' }).end();
  if (kind === 'as') return void response.setHeader('Content-Length', bodies[name]!.length).end(bodies[name]);
  if (kind === 'token') return giveToken(name, request, response);
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { host, 'user-agent': agent, 'x-own': own, authorization } = request.headers;
    const { 'content-length': length, 'transfer-encoding': coding, 'content-type': type } = request.headers;
    const asked = { method: request.method, body: Buffer.concat(chunks).toString(), length, coding, type };
    const isNamed = host === 'virtual.example.com';
    const shown = {
      ...asked,
      own,
      authorization,
      ...(isNamed ? { host } : {}),
      ...(agent === 'own/1' ? { agent } : {}),
    };
    response.setHeader('X-Asked', encodeURI(JSON.stringify(shown)));
    response.end(`${JSON.stringify(shown)}\n`);
  });
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
  return true;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

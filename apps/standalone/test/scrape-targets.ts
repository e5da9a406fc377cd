import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';

import { certificateMint } from '@vantage/test-support/certificate-mint';
import { freeServerPort } from '@vantage/test-support/daemon';
import { startDialogueTargets, type DialogueTargets } from './dialogue-targets.ts';
import { startKnot } from '@vantage/test-support/dns/knot';
import { zoneFile } from '@vantage/test-support/dns/zone';

/** Real servers on loopback, which both Vantage and blackbox_exporter probe. */
export interface ScrapeTargets {
  readonly http: string;
  readonly https: string;
  /** `host:port` of an open and of a closed TCP port. */
  readonly open: string;
  readonly closed: string;
  /** Address of an authoritative server of `ZONE` on port 53, and an address without a server. */
  readonly dns: string;
  readonly noDns: string;
  readonly dialogues: DialogueTargets;
  /** File of the certificate of the issuer, PEM. */
  readonly caFile: string;
  readonly close: () => Promise<void>;
}

export const ZONE = 'example.com.';

export async function startScrapeTargets(folder: string): Promise<ScrapeTargets> {
  const mint = certificateMint();
  const authority = mint.issue({ subject: '/O=Test Authority/CN=Test Authority Root', ca: true });
  const issued = mint.issue({
    issuer: authority,
    subject: '/C=DE/O=Example, Inc./OU=Probes/CN=target.example',
    names: ['DNS:target.example', 'DNS:www.target.example', 'IP:127.0.0.1'],
  });
  const caFile = join(folder, 'scrape-ca.pem');
  writeFileSync(caFile, authority.cert);
  mint.close();
  const http = await listen(createHttpServer(answer));
  const https = await listen(
    createSecureServer({ key: issued.key, cert: issued.cert, allowHTTP1: true }, answer as never),
  );
  const plain = await listen(createServer((socket) => socket.on('error', () => undefined)));
  const dialogues = await startDialogueTargets(folder, issued);
  const [dns, noDns] = [loopbackAddress(), loopbackAddress()];
  const knot = await startKnot({ zones: { [ZONE]: zoneFile(ZONE) }, address: dns, port: 53 });
  return {
    http: `http://127.0.0.1:${portOf(http)}`,
    https: `https://127.0.0.1:${portOf(https)}`,
    open: `127.0.0.1:${portOf(plain)}`,
    closed: `127.0.0.1:${await freeServerPort()}`,
    dns,
    noDns,
    caFile,
    dialogues,
    close: async () => {
      await dialogues.close();
      for (const server of [http, https, plain]) server.close();
      await knot.stop();
    },
  };
}

/** A random address of loopback, at which port 53 is most likely free. */
function loopbackAddress(): string {
  return `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
}

/** Pauses of `/slow`: before the head of the response, and before the end of its body. */
export const SLOW_MS = { head: 1_200, body: 700 };

const LAST_MODIFIED = 'Wed, 21 Oct 2015 07:28:00 GMT';

const answer: RequestListener = (request, response) => {
  const { url = '/' } = request;
  const body = `Hello from ${url}\n`;
  const plain = { 'Content-Length': Buffer.byteLength(body), 'X-Version': 'release-7' };
  if (url === '/redirect') response.writeHead(302, { Location: '/modified' }).end('moved');
  else if (url === '/modified') response.writeHead(200, { ...plain, 'Last-Modified': LAST_MODIFIED }).end(body);
  else if (url === '/chunked') response.write('part', () => response.end('part'));
  else if (url === '/slow') answerSlowly(response);
  else if (url === '/empty') response.writeHead(204).end();
  else if (url === '/large') response.end('x'.repeat(5_000));
  else response.writeHead(url === '/missing' ? 404 : 200, plain).end(body);
};

function answerSlowly(response: ServerResponse): void {
  setTimeout(() => {
    response.write('slow');
    setTimeout(() => response.end('ly'), SLOW_MS.body);
  }, SLOW_MS.head);
}

async function listen<S extends Server>(server: S): Promise<S> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

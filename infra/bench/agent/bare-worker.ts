import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect } from 'node:net';

import { Worker, type Job } from 'bullmq';
import { Redis } from 'ioredis';

/**
 * The lower bound for an agent: a bare BullMQ worker that measures with nothing but Node, and returns the result of a
 * recorded check. A ping needs a raw socket, which Node does not have: there the worker does nothing.
 */
const [, , port = '', tcpPort = '', httpPort = '', dnsPort = '', queryName = ''] = process.argv;
const AT_ONCE = 20;
const HOST = '127.0.0.1';

const file = new URL('../../../packages/contract/test/release-0.1.json', import.meta.url);
const { types } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly types: Readonly<Record<string, { readonly result: object }>>;
};

const measurements: Readonly<Record<string, () => Promise<void>>> = {
  tcp: () =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(tcpPort), HOST, () => socket.destroy());
      socket.on('error', reject).on('close', () => resolve());
    }),
  ping: () => Promise.resolve(),
  http: () =>
    new Promise((resolve, reject) => {
      const sent = get({ host: HOST, port: Number(httpPort), agent: false }, (response) => {
        response.resume().on('end', () => resolve());
      });
      sent.on('error', reject);
    }),
  dns: () =>
    new Promise((resolve, reject) => {
      const socket = createSocket('udp4', () => socket.close(() => resolve()));
      socket.on('error', reject).send(query, Number(dnsPort), HOST);
    }),
};

/** A query for an A record (RFC 1035 section 4). */
const query = Buffer.concat([
  Buffer.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
  ...queryName.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1')),
  Buffer.from([0, 0, 1, 0, 1]),
]);

const worker = new Worker(
  'jobs',
  async ({ name }: Job) => {
    await measurements[name]!();
    return types[name]!.result;
  },
  {
    connection: new Redis({ host: HOST, port: Number(port), maxRetriesPerRequest: null }),
    prefix: 'p:{bare-0}',
    concurrency: AT_ONCE,
    removeOnComplete: { count: 0 },
  },
);
await worker.waitUntilReady();
process.send!('ready');
process.on('disconnect', () => process.exit(0));

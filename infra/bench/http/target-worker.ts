import { createSecureServer } from 'node:http2';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The target of the benchmark, in a separate process: HTTPS with HTTP/2 and HTTP/1.1, and plain HTTP. `/slow` waits
 * before its head and again in its body, so that the phases have a size. Writes its ports to standard output, and ends
 * with its standard input. Arguments: files of the chain and of the key.
 */
const BODY = Buffer.alloc(10_000, 'a');
const WAIT_MS = 20;

const answer = async (path: string | undefined, response: Parameters<RequestListener>[1]): Promise<void> => {
  if (path !== '/slow') return void response.end(BODY);
  await sleep(WAIT_MS);
  response.write(BODY.subarray(0, 5_000));
  await sleep(WAIT_MS);
  response.end(BODY.subarray(5_000));
};

const [cert, key] = process.argv.slice(2).map((file) => readFileSync(file));
const secure = createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
  void answer(request.url, response as unknown as Parameters<RequestListener>[1]);
});
// With Nagle's algorithm, a part of a response would wait for the client's delayed acknowledgement of the previous
// one.
secure.on('connection', (socket: Socket) => socket.setNoDelay(true));
const plain = createServer((request, response) => void answer(request.url, response));

const listening = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1', 4_096);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};
const ports = { secure: await listening(secure), plain: await listening(plain) };
process.stdout.write(`${JSON.stringify(ports)}\n`);
process.stdin.resume().once('end', () => process.exit());

import { createServer as createHttp2 } from 'node:http2';
import { createServer, type Socket } from 'node:net';

/**
 * A target that sends as much as a probe accepts, with HTTP/1.1 on port 80 and HTTP/2 on port 81: every body is
 * endless, also those of redirects. `/redirect/N` leads to `/redirect/N-1`, and `/redirect/0` does not redirect.
 */
const BLOCK = Buffer.alloc(65_536, 'a');

function location(path: string): string | undefined {
  const left = Number(/^\/redirect\/(\d+)$/.exec(path)?.[1] ?? 0);
  return left === 0 ? undefined : `/redirect/${left - 1}`;
}

function pour(write: (block: Buffer) => boolean, isOver: () => boolean): void {
  while (!isOver() && write(BLOCK));
}

const http1 = createServer((socket: Socket) => {
  socket.on('error', () => undefined);
  socket.once('data', (request) => {
    const next = location(request.toString('latin1').split(' ')[1] ?? '/');
    socket.write(next === undefined ? 'HTTP/1.1 200 OK\r\n\r\n' : `HTTP/1.1 302 Found\r\nLocation: ${next}\r\n\r\n`);
    const more = (): void =>
      pour(
        (block) => socket.write(block),
        () => socket.destroyed,
      );
    socket.on('drain', more);
    more();
  });
});

const http2 = createHttp2();
http2.on('stream', (stream, headers) => {
  stream.on('error', () => undefined);
  const next = location(headers[':path'] ?? '/');
  stream.respond(next === undefined ? { ':status': 200 } : { ':status': 302, location: next });
  const more = (): void =>
    pour(
      (block) => stream.write(block),
      () => stream.destroyed,
    );
  stream.on('drain', more);
  more();
});

http1.listen(80, '::', () => http2.listen(81, '::', () => process.stdout.write('ready\n')));

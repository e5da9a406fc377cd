import { createServer, type Socket } from 'node:net';

/**
 * A target that sends much that no ordinary response has, mostly without end: heads, interim responses, extensions of
 * chunks, empty frames. With HTTP/1.1 on port 90, selected by the first segment of the path; with HTTP/2, whose
 * connections begin with a preface, on separate ports.
 */
const FILLER = 'a'.repeat(15_000);
const [DATA, HEADERS, SETTINGS, PING, GOAWAY, CONTINUATION] = [0, 1, 4, 6, 7, 9];
const STATUS_200 = Buffer.from([0x88]);

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Sends a first part and then repeats one piece, as fast as it is accepted. */
function pour(socket: Socket, first: string | Buffer, piece: string | Buffer): void {
  socket.write(first);
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

const answers: Readonly<Record<string, (socket: Socket, left: number) => void>> = {
  head: (socket) => pour(socket, 'HTTP/1.1 200 OK\r\n', `X-Filler: ${FILLER}\r\n`),
  interim: (socket) => pour(socket, '', `HTTP/1.1 103 Early Hints\r\nLink: ${FILLER}\r\n\r\n`),
  extensions: (socket) => pour(socket, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', `1;${FILLER}\r\na\r\n`),
  chunks: (socket) => pour(socket, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\na\r\n'.repeat(1_000)),
  trailers: (socket) =>
    pour(socket, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n', `X-Filler: ${FILLER}\r\n`),
  // Redirects whose heads are nearly as large as a check reads, with endless bodies.
  redirect: (socket, left) => {
    const to = left === 0 ? '' : `Location: /redirect/${left - 1}\r\n`;
    const fill = `X-Filler: ${FILLER}\r\n`.repeat(3);
    pour(socket, `HTTP/1.1 ${left === 0 ? '200 OK' : '302 Found'}\r\n${to}${fill}\r\n`, FILLER);
  },
};

const http1 = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.once('data', (request) => {
    const [, word = '', left = '0'] = /^GET \/(\w+)(?:\/(\d+))?/.exec(request.toString('latin1')) ?? [];
    answers[word]?.(socket, Number(left));
  });
});

const ping = frame(PING, 0, 0, Buffer.alloc(8)).toString('latin1').repeat(1_000);
const begin = Buffer.concat([frame(SETTINGS, 0, 0), frame(SETTINGS, 1, 0)]);
const floods: readonly ((socket: Socket) => void)[] = [
  (socket) => pour(socket, begin, Buffer.from(ping, 'latin1')),
  (socket) =>
    pour(
      socket,
      Buffer.concat([begin, frame(HEADERS, 4, 1, STATUS_200)]),
      Buffer.concat(Array.from({ length: 1_000 }, () => frame(DATA, 0, 1))),
    ),
  (socket) =>
    pour(
      socket,
      Buffer.concat([begin, frame(HEADERS, 0, 1, STATUS_200)]),
      frame(CONTINUATION, 0, 1, Buffer.alloc(16_000, Buffer.from('\0\x01a\x01b', 'latin1'))),
    ),
  // Most of the bytes that a client accepts before a response; GOAWAY says that the target did not process the request,
  // so that the client repeats it on another connection, which exceeds this limit.
  (socket) => {
    const pings = Buffer.from(ping.repeat(3), 'latin1');
    socket.write(Buffer.concat([begin, pings, frame(GOAWAY, 0, 0, Buffer.alloc(8))]));
  },
];

const servers = [
  http1,
  ...floods.map((flood) =>
    createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => flood(socket));
      socket.resume();
    }),
  ),
];
let listening = 0;
for (const [index, server] of servers.entries()) {
  server.listen(90 + index, '::', () => {
    listening += 1;
    if (listening === servers.length) process.stdout.write('ready\n');
  });
}

import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** Numbers that a ClientHello offers, in its order. */
export interface ClientHello {
  readonly suites: readonly number[];
  readonly groups: readonly number[];
  readonly signatures: readonly number[];
  readonly versions: readonly number[];
}

/** The ClientHello with which a client begins that connects to a port on loopback. */
export async function helloOf(connect: (port: number) => unknown): Promise<ClientHello> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hello = Promise.withResolvers<ClientHello>();
  server.on('connection', (socket) => {
    let received = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      if (received.length < 5 || received.length < 5 + received.readUInt16BE(3)) return;
      socket.destroy();
      hello.resolve(parse(received.subarray(5)));
    });
  });
  connect((server.address() as AddressInfo).port);
  const read = await hello.promise;
  server.close();
  return read;
}

/** Position of the session id: after type, length, version and random (RFC 8446 section 4.1.2). */
const SESSION_ID = 38;
const extensions = { groups: 10, signatures: 13, versions: 43 } as const;

function parse(hello: Buffer): ClientHello {
  const suitesAt = SESSION_ID + 1 + hello[SESSION_ID]!;
  const suitesBytes = hello.readUInt16BE(suitesAt);
  const compressionAt = suitesAt + 2 + suitesBytes;
  const read = new Map<number, Buffer>();
  for (let at = compressionAt + 1 + hello[compressionAt]! + 2; at < hello.length;) {
    const end = at + 4 + hello.readUInt16BE(at + 2);
    read.set(hello.readUInt16BE(at), hello.subarray(at + 4, end));
    at = end;
  }
  const listed = (extension: number, start: number): readonly number[] =>
    numbersOf(read.get(extension)?.subarray(start) ?? Buffer.alloc(0));
  return {
    suites: numbersOf(hello.subarray(suitesAt + 2, compressionAt)),
    groups: listed(extensions.groups, 2),
    signatures: listed(extensions.signatures, 2),
    versions: listed(extensions.versions, 1),
  };
}

/** Numbers of two bytes each, without those of GREASE (RFC 8701). */
function numbersOf(bytes: Buffer): readonly number[] {
  const all = Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readUInt16BE(2 * at));
  return all.filter((number) => (number & 0x0f0f) !== 0x0a0a);
}

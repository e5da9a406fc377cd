import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** A connected socket as a stream that remembers what came in first. */
export interface WireTap {
  readonly stream: Duplex;
  /** What came in so far, bounded. */
  readonly received: () => Buffer;
  /** True once the end of TCP was passed on, after all that came before it. */
  readonly hasEnded: () => boolean;
  /** Lets go of what came in, and keeps nothing from now on. */
  readonly stop: () => void;
}

/** OpenSSL takes 100 KiB of certificates at most (`SSL_MAX_CERT_LIST_DEFAULT`); the rest of its messages is small. */
const MAX_KEPT_BYTES = 256 * 1024;
const PAUSED_MS = 5;

/**
 * Lets a TLS socket read and write through a stream on which the handshake can be looked at: Node shows neither all
 * certificates of a server nor whether it asks for one of the client.
 */
export function tapSocket(socket: Socket): WireTap {
  let kept: Buffer[] | null = [];
  let keptBytes = 0;
  let [hasEnded, isEndPassed] = [false, false];
  const stream = new Duplex({
    // As `net.connect` has it: once the peer has ended, so does this side.
    allowHalfOpen: false,
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
    // One call of the kernel, so that a flight leaves in as few segments as it would without this stream.
    writev: (chunks: readonly { readonly chunk: Buffer }[], done) =>
      void socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  // After all that TLS makes of the last bytes: whether it ended before TCP did is to be seen.
  const passEnd = (): void => {
    if (stream.destroyed) return;
    // The reader has paused.
    if (stream.readableLength > 0) return void setTimeout(passEnd, PAUSED_MS);
    isEndPassed = true;
    stream.push(null);
  };
  socket.on('data', (chunk: Buffer) => {
    if (kept !== null && keptBytes < MAX_KEPT_BYTES) {
      kept.push(chunk);
      keptBytes += chunk.length;
    }
    if (!stream.push(chunk)) socket.pause();
  });
  socket.on('end', () => {
    hasEnded = true;
    setImmediate(passEnd);
  });
  socket.on('error', (error) => void stream.destroy(error));
  socket.on('close', () => {
    // After an orderly end there may be bytes that are not read yet.
    if (!hasEnded || stream.readableEnded) stream.destroy();
    else stream.once('end', () => stream.destroy());
  });
  return {
    stream,
    received: () => Buffer.concat(kept ?? []),
    hasEnded: () => isEndPassed,
    stop: () => {
      kept = null;
    },
  };
}

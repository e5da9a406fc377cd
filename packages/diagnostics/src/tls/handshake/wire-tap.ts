import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** A connected socket as a stream that records the first received bytes. */
export interface WireTap {
  readonly stream: Duplex;
  /** The recorded bytes, up to the chunk that reaches `MAX_KEPT_BYTES`; empty after `stop`. */
  readonly received: () => Buffer;
  /** True after the end of the TCP stream was passed on. */
  readonly hasEnded: () => boolean;
  /** Discards the recorded bytes and stops recording. */
  readonly stop: () => void;
}

/** Maximum bytes kept of a handshake: OpenSSL accepts at most 100 KiB of certificates (`SSL_MAX_CERT_LIST_DEFAULT`). */
const MAX_KEPT_BYTES = 256 * 1024;
const PAUSED_MS = 5;

/**
 * Records the handshake of a TLS socket: Node exposes neither all certificates of a server nor whether it requests one
 * from the client.
 */
export function tapSocket(socket: Socket): WireTap {
  let kept: Buffer[] | null = [];
  let keptBytes = 0;
  let [hasEnded, isEndPassed] = [false, false];
  const stream = new Duplex({
    // As in `net.connect`: once the peer has ended, this side ends too.
    allowHalfOpen: false,
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
    // One system call, so that a flight takes as few segments as without this stream.
    writev: (chunks: readonly { readonly chunk: Buffer }[], done) =>
      void socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  // Ends the stream only after TLS has read the last bytes, so that it is known whether TLS was closed before TCP.
  const passEnd = (): void => {
    if (stream.destroyed) return;
    // The reader has paused with bytes unread.
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

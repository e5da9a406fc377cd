import type { Socket } from 'node:net';

import {
  GATEWAY_PING_MS,
  gatewayVersions,
  type AgentHello,
  type AgentMessage,
  type EnrolmentRefusal,
  type GatewayMessage,
} from '@vantage/contract';
import type { WebSocket } from 'ws';

import { decodeFrame, encodeMessage, encodePiece, type UploadPiece } from '../frames/frames.ts';
import type { ReadMessage } from '../frames/validate.ts';
import { connectionFault, handshakeRefusal } from './connection-faults.ts';

/** Identity of an agent at the service. */
export interface AgentIdentity {
  readonly probeId: () => string;
  /** Signs a challenge with a counter that was not used before. */
  readonly answer: (nonce: string) => Promise<AgentHello['proof']>;
  /** To be called when a gateway has accepted the proof. Rejects if the key cannot be stored. */
  readonly confirmed: () => Promise<void>;
  /**
   * After a refusal: reconnect after the usual delay (`retry`) or the longer one of a refusal (`wait`), or stop
   * (`end`).
   */
  readonly refused: (code: EnrolmentRefusal) => Promise<'retry' | 'wait' | 'end'>;
}

/** One connection to a gateway. */
export interface Session {
  readonly isOpen: () => boolean;
  readonly send: (message: AgentMessage) => void;
  readonly sendPiece: (piece: UploadPiece) => void;
  /** Unique on this connection. */
  readonly nextSeq: () => number;
  readonly remote: () => { readonly address: string | undefined; readonly port: number | undefined };
  readonly close: () => void;
  /** Ends the connection without a close frame, as if the peer were dead. */
  readonly terminate: () => void;
}

export interface Closed {
  readonly code: number;
  readonly reason: string;
  readonly error?: Error | undefined;
}

export interface SessionOptions {
  readonly socket: WebSocket;
  readonly identity: AgentIdentity;
  readonly hello: () => Pick<AgentHello, 'instance' | 'release' | 'credit' | 'yields' | 'reports'>;
  readonly read: ReadMessage<GatewayMessage>;
  /** Called when the gateway requests the proof, which shows that it responds. */
  readonly onChallenged?: (session: Session) => void;
  /** Called when the gateway no longer answers pings, and when it does again. */
  readonly onSilence?: (isSilent: boolean, session: Session) => void;
  /** Called with each message except the challenge. */
  readonly onMessage: (message: GatewayMessage, session: Session) => void;
  /** Called once, also if the connection failed. */
  readonly onClosed: (closed: Closed, session: Session) => void;
}

/** Number of unanswered pings after which a connection is silent; a stall of this process counts as one. */
const SILENT_AFTER = 2;
/** Number of unanswered pings after which a connection is closed. */
const DEAD_AFTER = 8;
/** Time for the gateway to answer a close. */
const CLOSE_MS = 2_000;

export function openSession(options: SessionOptions): Session {
  const { socket, identity, hello, read, onMessage, onClosed } = options;
  let seq = 0;
  let error: Error | undefined;
  const pings = keepPinging(socket, (isSilent) => options.onSilence?.(isSilent, session));

  const session: Session = {
    isOpen: () => socket.readyState === socket.OPEN,
    send: (message) => {
      if (socket.readyState === socket.OPEN) socket.send(encodeMessage(message));
    },
    sendPiece: (piece) => {
      if (socket.readyState === socket.OPEN) socket.send(encodePiece(piece));
    },
    nextSeq: () => (seq += 1),
    remote: () => remoteOf(socket),
    close: () => {
      socket.close(1000);
      setTimeout(() => socket.terminate(), CLOSE_MS).unref();
    },
    terminate: () => socket.terminate(),
  };
  const answer = async (nonce: string, newest: number): Promise<void> => {
    const v = Math.min(gatewayVersions.newest, newest);
    session.send({ t: 'hello', v, proof: await identity.answer(nonce), ...hello() });
  };

  socket.on('message', (payload: Buffer, isBinary) => {
    const frame = decodeFrame(payload, isBinary);
    const message = frame.kind === 'message' ? read(frame.message) : undefined;
    // A gateway of a later release may send messages that this agent does not know.
    if (message === undefined) return;
    if (message.t === 'ack') pings.answered();
    if (message.t !== 'challenge') return onMessage(message, session);
    options.onChallenged?.(session);
    if (!session.isOpen()) return;
    answer(message.nonce, message.versions.newest).catch((cause: unknown) => {
      error = Error.isError(cause) ? cause : new Error(String(cause));
      socket.terminate();
    });
  });
  socket.on('unexpected-response', (_request, { statusCode = 0, headers }) => {
    error ??= new Error(handshakeRefusal(statusCode, headers.location));
    socket.terminate();
  });
  socket.on('error', (cause) => (error ??= connectionFault(cause)));
  socket.on('close', (code, reason) => {
    pings.stop();
    onClosed({ code, reason: reason.toString(), error }, session);
  });
  return session;
}

interface Pings {
  /** To be called for an acknowledgement: on a slow connection, pings wait behind results. */
  readonly answered: () => void;
  readonly stop: () => void;
}

/**
 * Sends pings and watches for pongs: most messages of the gateway do not prove that it receives anything. On a slow
 * connection a pong waits behind a large job, so a ping does not count as unanswered while a part of a message arrives.
 */
function keepPinging(socket: WebSocket, onSilence: (isSilent: boolean) => void): Pings {
  let unanswered = 0;
  let seenBytes = 0;
  const bytesRead = (): number => tcpOf(socket)?.bytesRead ?? 0;
  const arrivesInParts = (): boolean => {
    const before = seenBytes;
    seenBytes = bytesRead();
    return seenBytes !== before;
  };
  const answered = (): void => {
    if (unanswered >= SILENT_AFTER) onSilence(false);
    unanswered = 0;
  };
  const timer = setInterval(() => {
    if (!arrivesInParts()) {
      if (unanswered === SILENT_AFTER) onSilence(true);
      if (unanswered >= DEAD_AFTER) return socket.terminate();
      unanswered += 1;
    }
    if (socket.readyState === socket.OPEN) socket.ping();
  }, GATEWAY_PING_MS);
  // No ping was sent while the connection was being opened, which a busy gateway or a network may delay for seconds.
  socket.on('open', () => (unanswered = 0));
  socket.on('pong', answered);
  // Bytes that arrived before or with the end of a message do not belong to a later one.
  for (const event of ['open', 'message', 'pong'] as const) socket.on(event, () => (seenBytes = bytesRead()));
  return { answered, stop: () => clearInterval(timer) };
}

interface WithSocket {
  readonly _socket?: Partial<Pick<Socket, 'remoteAddress' | 'remotePort' | 'bytesRead'>> | null;
}

const tcpOf = (socket: WebSocket): WithSocket['_socket'] => (socket as unknown as WithSocket)._socket;

/** The peer of the TCP connection: the gateway, or a proxy in between. */
function remoteOf(socket: WebSocket): ReturnType<Session['remote']> {
  const tcp = tcpOf(socket);
  return { address: tcp?.remoteAddress, port: tcp?.remotePort };
}

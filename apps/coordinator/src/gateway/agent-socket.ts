import { decodeFrame, encodeMessage, type Frame } from '@vantage/agent-loop';
import { MAX_GATEWAY_MESSAGE_BYTES, type GatewayCloseCode, type GatewayMessage } from '@vantage/contract';
import type { WebSocket } from 'ws';

import { createTokenBucket, type TokenBucket } from './limits/token-bucket.ts';

/** The connection of one agent, admitted or not. */
export interface AgentSocket {
  readonly send: (message: GatewayMessage) => void;
  readonly close: (code: GatewayCloseCode | 1000 | 1001 | 1009 | 1013, reason?: string) => void;
  /** Sets the listener for frames, in place of the previous one. */
  readonly onFrame: (listener: (frame: Frame) => void) => void;
  readonly onClosed: (listener: () => void) => void;
  readonly isOpen: () => boolean;
  /** Adds a rate to that of every connection. */
  readonly limitBy: (rate: Pick<TokenBucket, 'take'>) => void;
  /** Reads no more from the network until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Closes the connection if nothing arrived since the look before the last one; a live agent sends pings. */
  readonly look: () => void;
  /** True if it was closed because the agent was silent. */
  readonly wasSilent: () => boolean;
}

/** Maximum bytes that wait for an agent, more than all of its jobs at their maximum size. */
const MOST_BUFFERED_BYTES = 8 * MAX_GATEWAY_MESSAGE_BYTES;
/** Limit of uncompressed bytes: many times the rate of a busy agent; bounds one that was taken over. */
const RATE = { perSecond: 4 * 1024 * 1024, burst: 8 * 1024 * 1024 } as const;
/** Fixed cost of a message in addition to its size: allows about 1,000 small messages per second. */
const MESSAGE_COST_BYTES = 4 * 1024;
/**
 * After a stall of this process, a look precedes the reading of data that has arrived, so one quiet look is not
 * conclusive.
 */
const QUIET_LOOKS = 2;
/** Time for the peer to answer a close. */
const CLOSE_MS = 2_000;

export function openAgentSocket(socket: WebSocket): AgentSocket {
  let take: (frame: Frame) => void = () => undefined;
  let quietLooks = 0;
  let wasSilent = false;
  const rate = createTokenBucket(RATE);
  let rateOfAgent: Pick<TokenBucket, 'take'> = { take: () => 0 };
  /** Reasons not to read the socket: each side of the connection can request a pause. */
  let [isFull, isFast] = [false, false];

  const flow = (): void => {
    if (isFull || isFast) socket.pause();
    else socket.resume();
  };
  const slowDown = (bytes: number): void => {
    const pauseMs = Math.max(rate.take(bytes), rateOfAgent.take(bytes));
    if (isFast) return;
    isFast = pauseMs > 0;
    flow();
    // Data read before the pause is handled during it, and counts.
    if (isFast) setTimeout(endPause, pauseMs).unref();
  };
  const endPause = (): void => {
    isFast = false;
    slowDown(0);
  };

  const close: AgentSocket['close'] = (code, reason = '') => {
    take = () => undefined;
    socket.close(code, reason);
    setTimeout(() => socket.terminate(), CLOSE_MS).unref();
  };
  // Pings are answered before this, whether or not the socket is paused.
  const takeControl = (data: Buffer): void => {
    quietLooks = 0;
    slowDown(MESSAGE_COST_BYTES + data.length);
    if (socket.bufferedAmount > MOST_BUFFERED_BYTES) close(4413);
  };
  socket.on('message', (payload: Buffer, isBinary) => {
    quietLooks = 0;
    const frame = decodeFrame(payload, isBinary);
    slowDown(MESSAGE_COST_BYTES + (frame.kind === 'message' ? frame.bytes : payload.length));
    take(frame);
  });
  socket.on('ping', takeControl);
  socket.on('pong', takeControl);
  // The `close` event has the details. Other data, such as the rest of an oversized message, is not read.
  socket.on('error', () => {
    setImmediate(() => socket.pause());
    setTimeout(() => socket.terminate(), CLOSE_MS).unref();
  });

  return {
    send: (message) => {
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount > MOST_BUFFERED_BYTES) return close(4413);
      socket.send(encodeMessage(message));
    },
    close,
    onFrame: (listener) => {
      take = listener;
    },
    onClosed: (listener) => void socket.on('close', listener),
    isOpen: () => socket.readyState === socket.OPEN,
    limitBy: (more) => {
      rateOfAgent = more;
    },
    pause: () => {
      isFull = true;
      flow();
    },
    resume: () => {
      if (!isFull) return;
      isFull = false;
      flow();
    },
    look: () => {
      if (socket.isPaused) return;
      quietLooks += 1;
      if (quietLooks <= QUIET_LOOKS) return;
      wasSilent = true;
      socket.terminate();
    },
    wasSilent: () => wasSilent,
  };
}

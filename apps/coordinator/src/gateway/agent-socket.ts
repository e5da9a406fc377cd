import { decodeFrame, encodeMessage, type Frame } from '@vantage/agent-loop';
import { MAX_GATEWAY_MESSAGE_BYTES, type GatewayCloseCode, type GatewayMessage } from '@vantage/contract';
import type { WebSocket } from 'ws';

import { createByteRate } from './byte-rate.ts';

/** The connection of one agent, admitted or not. */
export interface AgentSocket {
  readonly send: (message: GatewayMessage) => void;
  readonly close: (code: GatewayCloseCode | 1000 | 1001 | 1013, reason?: string) => void;
  /** The latest listener gets each frame. */
  readonly onFrame: (listener: (frame: Frame) => void) => void;
  readonly onClosed: (listener: () => void) => void;
  readonly isOpen: () => boolean;
  /** Reads no more from the network for a while. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Sends a ping; ends the connection if nothing came since the one before. */
  readonly ping: () => void;
  /** True if it was ended because the agent did not answer a ping. */
  readonly wasSilent: () => boolean;
}

/** More than all jobs that an agent may have, each of the largest size that occurs. */
const MOST_BUFFERED_BYTES = 8 * MAX_GATEWAY_MESSAGE_BYTES;
/** Many times what an agent with all its slots taken sends; a stolen one gets no further. */
const RATE = { bytesPerSecond: 8 * 1024 * 1024, burstBytes: 32 * 1024 * 1024 } as const;
/** What the peer has to answer a close. */
const CLOSE_MS = 2_000;

export function openAgentSocket(socket: WebSocket): AgentSocket {
  let take: (frame: Frame) => void = () => undefined;
  let isHeard = true;
  let wasSilent = false;
  const rate = createByteRate(RATE);
  /** Reasons to read nothing: each side of the connection that asks for a pause is one. */
  let [isFull, isFast] = [false, false];

  const flow = (): void => {
    if (isFull || isFast) socket.pause();
    else socket.resume();
  };
  const slowDown = (bytes: number): void => {
    const pauseMs = rate.take(bytes);
    if (pauseMs === 0 || isFast) return;
    isFast = true;
    flow();
    setTimeout(() => {
      isFast = false;
      flow();
    }, pauseMs).unref();
  };

  const close: AgentSocket['close'] = (code, reason = '') => {
    take = () => undefined;
    socket.close(code, reason);
    setTimeout(() => socket.terminate(), CLOSE_MS).unref();
  };
  socket.on('message', (payload: Buffer, isBinary) => {
    isHeard = true;
    slowDown(payload.length);
    take(decodeFrame(payload, isBinary));
  });
  socket.on('pong', () => (isHeard = true));
  // The close that follows says what there is to say.
  socket.on('error', () => undefined);

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
    pause: () => {
      isFull = true;
      flow();
    },
    resume: () => {
      if (!isFull) return;
      isFull = false;
      flow();
    },
    ping: () => {
      if (!isHeard && !socket.isPaused) {
        wasSilent = true;
        return socket.terminate();
      }
      isHeard = false;
      socket.ping();
    },
    wasSilent: () => wasSilent,
  };
}

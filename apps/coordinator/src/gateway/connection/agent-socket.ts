import { decodeFrame, encodeMessage, type Frame } from '@vantage/agent-loop';
import { MAX_GATEWAY_MESSAGE_BYTES, type GatewayCloseCode, type GatewayMessage } from '@vantage/contract';
import type { WebSocket } from 'ws';

import { createTokenBucket, type TokenBucket } from '../limits/token-bucket.ts';

/** The connection of one agent, admitted or not. */
export interface AgentSocket {
  readonly send: (message: GatewayMessage) => void;
  readonly close: (code: GatewayCloseCode | 1000 | 1001 | 1009 | 1013, reason?: string) => void;
  /** Sets the listener for frames, in place of the previous one. */
  readonly onFrame: (listener: (frame: Frame) => void) => void;
  readonly onClosed: (listener: () => void) => void;
  readonly isOpen: () => boolean;
  /** Sets a second rate limit, in addition to that of the connection. */
  readonly limitBy: (rate: Pick<TokenBucket, 'take'>) => void;
  /** Reads no more from the network until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
  /**
   * To be called at an interval. Closes the connection at more than `QUIET_POLLS` calls in a row without received data
   * in between. Calls during a pause do not count.
   */
  readonly poll: () => void;
  /**
   * Sends a pong if a part of a frame has arrived since the last call, and no whole frame: on a slow connection the
   * pings of the agent wait behind a large result.
   */
  readonly answerPart: () => void;
  /** True if the socket was closed because the agent was silent. */
  readonly wasSilent: () => boolean;
}

/** Maximum bytes that wait for an agent; beyond it, the connection is closed. */
const MOST_BUFFERED_BYTES = 8 * MAX_GATEWAY_MESSAGE_BYTES;
/** Limit of uncompressed bytes of a connection. */
const RATE = { perSecond: 4 * 1024 * 1024, burst: 8 * 1024 * 1024 } as const;
/** Fixed cost of a message in addition to its size: allows about 1,000 small messages per second. */
const MESSAGE_COST_BYTES = 4 * 1024;
/**
 * Calls of `poll` in a row without received data that are tolerated: after a stall of this process, a call may precede
 * the reading of data that has arrived.
 */
const QUIET_POLLS = 2;
/** Time for the peer to answer a close. */
const CLOSE_MS = 2_000;

/** @param bytesRead returns the number of bytes read from the TCP connection */
export function openAgentSocket(socket: WebSocket, bytesRead: () => number): AgentSocket {
  return new WebSocketOfAgent(socket, bytesRead);
}

class WebSocketOfAgent implements AgentSocket {
  private readonly socket: WebSocket;
  private readonly bytesRead: () => number;
  private seenBytes = 0;
  private hasFrame = false;
  private readonly rate = createTokenBucket(RATE);
  private rateOfAgent: Pick<TokenBucket, 'take'> = { take: () => 0 };
  private listener: (frame: Frame) => void = () => undefined;
  private quietPolls = 0;
  private isSilent = false;
  /** True between `pause` and `resume`; the socket is then not read. */
  private isFull = false;
  /** True while the agent must pause because it exceeded its rate; the socket is then not read. */
  private isFast = false;

  constructor(socket: WebSocket, bytesRead: () => number) {
    this.socket = socket;
    this.bytesRead = bytesRead;
    socket.on('message', this.takeData);
    socket.on('ping', this.takeControl);
    socket.on('pong', this.takeControl);
    // The `close` event has the details. Further data, such as the rest of an oversized message, is not read.
    socket.on('error', () => {
      setImmediate(() => socket.pause());
      this.terminateLater();
    });
  }

  readonly send = (message: GatewayMessage): void => {
    const { socket } = this;
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > MOST_BUFFERED_BYTES) return this.close(4413);
    socket.send(encodeMessage(message));
  };

  readonly close: AgentSocket['close'] = (code, reason = '') => {
    this.listener = () => undefined;
    this.socket.close(code, reason);
    this.terminateLater();
  };

  readonly onFrame = (listener: (frame: Frame) => void): void => {
    this.listener = listener;
  };

  readonly onClosed = (listener: () => void): void => void this.socket.on('close', listener);

  readonly isOpen = (): boolean => this.socket.readyState === this.socket.OPEN;

  readonly limitBy = (more: Pick<TokenBucket, 'take'>): void => {
    this.rateOfAgent = more;
  };

  readonly pause = (): void => {
    this.isFull = true;
    this.flow();
  };

  readonly resume = (): void => {
    if (!this.isFull) return;
    this.isFull = false;
    this.flow();
  };

  readonly poll = (): void => {
    if (this.socket.isPaused) return;
    this.quietPolls += 1;
    if (this.quietPolls <= QUIET_POLLS) return;
    this.isSilent = true;
    this.socket.terminate();
  };

  readonly answerPart = (): void => {
    const bytes = this.bytesRead();
    const isPart = bytes !== this.seenBytes && !this.hasFrame;
    [this.seenBytes, this.hasFrame] = [bytes, false];
    if (!isPart || !this.isOpen()) return;
    this.quietPolls = 0;
    // RFC 6455 section 5.5.3 allows a pong without a ping.
    this.socket.pong();
  };

  readonly wasSilent = (): boolean => this.isSilent;

  private readonly takeData = (payload: Buffer, isBinary: boolean): void => {
    this.heard();
    const frame = decodeFrame(payload, isBinary);
    this.slowDown(MESSAGE_COST_BYTES + (frame.kind === 'message' ? frame.bytes : payload.length));
    this.listener(frame);
  };

  /**
   * Counts a ping or pong toward the rate, and closes if the answers to pings are not read: `ws` answers each ping
   * before it calls this, whether or not the socket is paused.
   */
  private readonly takeControl = (data: Buffer): void => {
    this.heard();
    this.slowDown(MESSAGE_COST_BYTES + data.length);
    if (this.socket.bufferedAmount > MOST_BUFFERED_BYTES) this.close(4413);
  };

  private heard(): void {
    [this.quietPolls, this.hasFrame] = [0, true];
  }

  private slowDown(bytes: number): void {
    const pauseMs = Math.max(this.rate.take(bytes), this.rateOfAgent.take(bytes));
    if (this.isFast) return;
    this.isFast = pauseMs > 0;
    this.flow();
    // Frames that were read before the pause still arrive during it, and are counted.
    if (this.isFast) setTimeout(this.endPause, pauseMs).unref();
  }

  private readonly endPause = (): void => {
    this.isFast = false;
    this.slowDown(0);
  };

  private flow(): void {
    if (this.isFull || this.isFast) this.socket.pause();
    else this.socket.resume();
  }

  private terminateLater(): void {
    setTimeout(() => this.socket.terminate(), CLOSE_MS).unref();
  }
}

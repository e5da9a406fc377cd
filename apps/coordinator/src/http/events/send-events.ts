import { EVENT_HEARTBEAT_MS } from '@vantage/contract';
import type { ServerResponse } from 'node:http';

import type { LiveCheck } from '../../checks/read/live-check.ts';
import { HEARTBEAT_FRAME, retryFrame, type EventFrames } from './event-frames.ts';

/** An open event stream. */
export interface Sending {
  /** Sends pending changes. */
  readonly pump: () => void;
  /** Ends the stream with a random reconnection delay for the client. */
  readonly sendAway: () => void;
}

export interface SendingOptions {
  /** Id of the check. */
  readonly id: string;
  readonly live: LiveCheck;
  readonly frames: EventFrames;
  /** The newest version that the client has; -1 for none. */
  readonly after: number;
  readonly times?: Partial<StreamTimes> | undefined;
}

export interface StreamTimes {
  readonly heartbeatMs: number;
  /** A response whose buffer the client does not drain for this long is closed. */
  readonly stuckMs: number;
}

export const STUCK_MS = 30_000;
const standardTimes: StreamTimes = { heartbeatMs: EVENT_HEARTBEAT_MS, stuckMs: STUCK_MS };

/** Reconnection delay after a broken connection. */
export const RETRY_MS = 1_000;
/** Bounds of the random reconnection delay on shutdown, milliseconds, so that clients do not return all at once. */
const RETURN_MS = { from: 500, to: 2_500 };

export const streamHeaders = {
  'Content-Type': 'text/event-stream',
  // `no-transform`: a proxy that compresses a stream may also buffer it.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Most bytes written at once, so that the buffer drains in between if the client reads slowly. */
export const PIECE_BYTES = 64 * 1024;

/**
 * Sends the changes of a check until it is completed or gone. While the buffer of the socket is full, only the rest of
 * a version that was begun is added, and states that are replaced meanwhile are never sent. The bytes of an event are
 * shared with other streams of the check.
 */
export function sendEvents(response: ServerResponse, options: SendingOptions): Sending {
  const stream = new CheckStream(response, options);
  stream.begin();
  return { pump: () => stream.pump(), sendAway: () => stream.sendAway() };
}

class CheckStream {
  private readonly response: ServerResponse;
  private readonly options: SendingOptions;
  private readonly times: StreamTimes;
  private readonly heartbeat: NodeJS.Timeout;
  /** Frames that are not written yet. */
  private readonly waiting: Buffer[] = [];
  /** The newest version that the client has or was sent; -1 for none. */
  private sent: number;
  private epoch: number;
  /** True while the socket's buffer is full. */
  private isBlocked = false;
  /** True once only the waiting frames remain to be sent. */
  private isLast = false;
  private stuck: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, options: SendingOptions) {
    this.response = response;
    this.options = options;
    this.times = { ...standardTimes, ...options.times };
    this.sent = options.after;
    this.epoch = options.live.epoch();
    this.heartbeat = setTimeout(() => this.beat(), this.times.heartbeatMs);
  }

  begin(): void {
    this.response.on('drain', () => {
      clearTimeout(this.stuck);
      this.isBlocked = false;
      this.flush();
      this.pump();
    });
    this.response.once('close', () => this.closed());
    this.write(retryFrame(RETRY_MS));
    this.pump();
  }

  pump(): void {
    if (this.isBlocked || this.isLast) return;
    const { id, live, frames } = this.options;
    if (live.epoch() !== this.epoch) {
      this.epoch = live.epoch();
      this.sent = -1;
    }
    for (const state of live.since(this.sent)) {
      // States of the same version are sent together, because a client resumes after a whole version.
      if (this.isBlocked && state.version > this.sent) return;
      this.write(frames.probe(id, state));
      this.sent = state.version;
    }
    const completion = live.completion();
    if (this.isBlocked) return;
    if (completion !== undefined) this.end(frames.completed(completion));
    else if (live.isGone()) this.end();
  }

  sendAway(): void {
    if (!this.isLast) this.end(retryFrame(RETURN_MS.from + Math.random() * (RETURN_MS.to - RETURN_MS.from)));
  }

  private write(frame: Buffer): void {
    this.heartbeat.refresh();
    this.waiting.push(frame);
    this.flush();
  }

  private end(frame?: Buffer): void {
    this.isLast = true;
    clearTimeout(this.heartbeat);
    if (frame !== undefined) this.waiting.push(frame);
    this.flush();
  }

  private flush(): void {
    const { response, waiting } = this;
    while (!this.isBlocked && waiting.length > 0) {
      const next = waiting.shift()!;
      if (next.length > PIECE_BYTES) waiting.unshift(next.subarray(PIECE_BYTES));
      if (response.write(next.subarray(0, PIECE_BYTES))) continue;
      this.isBlocked = true;
      this.endIfStuck();
    }
    if (!this.isLast || this.isBlocked || response.writableEnded) return;
    this.endIfStuck();
    response.end();
  }

  private endIfStuck(): void {
    this.stuck = setTimeout(() => this.response.destroy(), this.times.stuckMs);
  }

  private beat(): void {
    if (this.isBlocked) this.heartbeat.refresh();
    else this.write(HEARTBEAT_FRAME);
  }

  private closed(): void {
    this.isLast = true;
    this.waiting.length = 0;
    clearTimeout(this.heartbeat);
    clearTimeout(this.stuck);
    this.options.live.close();
  }
}

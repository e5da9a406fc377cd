import { EVENT_HEARTBEAT_MS } from '@vantage/contract';
import type { ServerResponse } from 'node:http';

import type { LiveCheck } from '../../checks/read/live-check.ts';
import { HEARTBEAT_FRAME, retryFrame, type EventFrames } from './event-frames.ts';

/** An open event stream. */
export interface Sending {
  /** Sends pending changes. */
  readonly pump: () => void;
  /** Ends the stream so that the client reconnects, to another coordinator or to this one after its restart. */
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
  /** A client that reads nothing for this long is disconnected. */
  readonly stuckMs: number;
}

export const STUCK_MS = 30_000;
const standardTimes: StreamTimes = { heartbeatMs: EVENT_HEARTBEAT_MS, stuckMs: STUCK_MS };

/** Reconnection delay after a broken connection. */
export const RETRY_MS = 1_000;
/** Reconnection delays on shutdown; random, so that clients do not return all at once. */
const RETURN_MS = { from: 500, to: 2_500 };

export const streamHeaders = {
  'Content-Type': 'text/event-stream',
  // `no-transform`: a proxy that compresses a stream also buffers it.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Bytes written at once: each write that completes shows that the client reads. */
export const PIECE_BYTES = 64 * 1024;

/**
 * Sends the changes of a check until it is completed. While the client does not read, no more is written, and states
 * that are replaced meanwhile are never sent. So a stream buffers little beyond its socket: the rest of one event,
 * whose bytes it shares with other streams of the check.
 */
export function sendEvents(response: ServerResponse, { id, live, frames, after, times }: SendingOptions): Sending {
  const { heartbeatMs, stuckMs } = { ...standardTimes, ...times };
  const waiting: Buffer[] = [];
  let sent = after;
  let epoch = live.epoch();
  let isBlocked = false;
  let isLast = false;
  let stuck: NodeJS.Timeout | undefined;

  const flush = (): void => {
    while (!isBlocked && waiting.length > 0) {
      const next = waiting.shift()!;
      if (next.length > PIECE_BYTES) waiting.unshift(next.subarray(PIECE_BYTES));
      if (response.write(next.subarray(0, PIECE_BYTES))) continue;
      isBlocked = true;
      stuck = setTimeout(() => response.destroy(), stuckMs);
    }
    if (!isLast || isBlocked || response.writableEnded) return;
    stuck = setTimeout(() => response.destroy(), stuckMs);
    response.end();
  };

  const write = (frame: Buffer): void => {
    heartbeat.refresh();
    waiting.push(frame);
    flush();
  };

  const end = (frame?: Buffer): void => {
    isLast = true;
    clearTimeout(heartbeat);
    if (frame !== undefined) waiting.push(frame);
    flush();
  };

  const pump = (): void => {
    if (isBlocked || isLast) return;
    if (live.epoch() !== epoch) {
      epoch = live.epoch();
      sent = -1;
    }
    for (const state of live.since(sent)) {
      // States of the same version are sent together, because a client resumes after a whole version.
      if (isBlocked && state.version > sent) return;
      write(frames.probe(id, state));
      sent = state.version;
    }
    const completion = live.completion();
    if (isBlocked) return;
    if (completion !== undefined) end(frames.completed(completion));
    else if (live.isGone()) end();
  };

  const heartbeat = setTimeout(() => {
    if (isBlocked) heartbeat.refresh();
    else write(HEARTBEAT_FRAME);
  }, heartbeatMs);

  response.on('drain', () => {
    clearTimeout(stuck);
    isBlocked = false;
    flush();
    pump();
  });
  response.once('close', () => {
    isLast = true;
    waiting.length = 0;
    clearTimeout(heartbeat);
    clearTimeout(stuck);
    live.close();
  });
  write(retryFrame(RETRY_MS));
  pump();
  return {
    pump,
    sendAway: () => {
      if (!isLast) end(retryFrame(RETURN_MS.from + Math.random() * (RETURN_MS.to - RETURN_MS.from)));
    },
  };
}

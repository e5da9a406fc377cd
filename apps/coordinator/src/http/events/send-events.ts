import { EVENT_HEARTBEAT_MS } from '@vantage/contract';
import type { ServerResponse } from 'node:http';

import type { LiveCheck } from '../../checks/read/live-check.ts';
import { HEARTBEAT_FRAME, retryFrame, type EventFrames } from './event-frames.ts';

/** One event stream that is being sent. */
export interface Sending {
  /** Something may be new. */
  readonly pump: () => void;
  /** Ends the stream in order: the client shall connect again, to another coordinator or to this one once it is back. */
  readonly sendAway: () => void;
}

export interface SendingOptions {
  /** Of the check. */
  readonly id: string;
  readonly live: LiveCheck;
  readonly frames: EventFrames;
  /** The newest version that the client knows; -1: none. */
  readonly after: number;
  readonly times?: Partial<StreamTimes> | undefined;
}

export interface StreamTimes {
  readonly heartbeatMs: number;
  /** A client that takes nothing for this long is cut off. */
  readonly stuckMs: number;
}

const standardTimes: StreamTimes = { heartbeatMs: EVENT_HEARTBEAT_MS, stuckMs: 30_000 };

/** A client whose connection broke comes back after this time. */
const RETRY_MS = 1_000;
/** Clients that are sent away do not come back all at once. */
const RETURN_MS = { from: 500, to: 2_500 };

/** What is handed to the socket at once: each piece that goes off shows that the client reads. */
const PIECE_BYTES = 64 * 1024;

/**
 * Sends what changes in a check until it is completed. While the client does not take what was written, nothing more is:
 * states that are overtaken by then are never sent. So a stream holds little beyond the buffer of its socket: the rest of
 * one event, in bytes that it shares with the other streams of the check.
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
      // States of one version, those without any yet, go out together: a version is known wholly or not at all.
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

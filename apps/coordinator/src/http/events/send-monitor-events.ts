import type { ServerResponse } from 'node:http';

import { EVENT_HEARTBEAT_MS } from '@vantage/contract';

import type { EventsReading } from '../../monitors/monitors.ts';
import { HEARTBEAT_FRAME, retryFrame } from './event-frames.ts';

export interface MonitorStreamOptions {
  /** Events read when the stream was opened. */
  readonly first: EventsReading;
  /** Id of the last event that the client has. */
  readonly after: string | undefined;
  /** Resolves with undefined if the monitor was removed. */
  readonly read: (after: string | undefined) => Promise<EventsReading | undefined>;
  readonly heartbeatMs?: number | undefined;
  readonly onClose: () => void;
}

/** A client that reads nothing for this long is disconnected. */
const STUCK_MS = 30_000;
const RETRY_MS = 1_000;
/** Reconnection delays on shutdown; random, so that clients do not return all at once. */
const RETURN_MS = { from: 500, to: 2_500 };

/** Sends the events of a monitor until it is removed or the client disconnects. */
export function sendMonitorEvents(
  response: ServerResponse,
  { first, after, read, heartbeatMs = EVENT_HEARTBEAT_MS, onClose }: MonitorStreamOptions,
): { readonly pump: () => void; readonly sendAway: () => void } {
  let known = after;
  let lastTick: number | undefined;
  let [isBusy, isAgain] = [false, false];
  let stuck: NodeJS.Timeout | undefined;

  const write = (frame: Buffer | string): void => {
    if (response.writableEnded || response.destroyed) return;
    heartbeat.refresh();
    // The stored events of a monitor are bounded, so the buffer for a slow client is too.
    if (!response.write(frame)) stuck ??= setTimeout(() => response.destroy(), STUCK_MS);
  };
  const send = ({ snapshot, events, run }: EventsReading): void => {
    if (snapshot !== undefined) {
      write(frameOf(snapshot.id, 'monitor', snapshot.monitor));
      known = snapshot.id;
    }
    for (const { id, event } of events) {
      write(frameOf(id, event.kind, event));
      known = id;
    }
    if (run !== undefined && run.tick !== lastTick) write(frameOf(undefined, 'run', run));
    lastTick = run?.tick;
  };
  const readNew = async (): Promise<void> => {
    isBusy = true;
    do {
      isAgain = false;
      // While Redis is unavailable the stream stays open; the next change or heartbeat reads again.
      const reading = await read(known).catch(() => 'unavailable' as const);
      if (reading === undefined) response.end();
      else if (reading !== 'unavailable') send(reading);
    } while (isAgain && !response.writableEnded);
    isBusy = false;
  };
  const pump = (): void => {
    if (response.writableEnded || stuck !== undefined) return;
    isAgain = true;
    if (!isBusy) void readNew();
  };
  const heartbeat = setInterval(() => {
    write(HEARTBEAT_FRAME);
    pump();
  }, heartbeatMs);

  response.on('drain', () => {
    clearTimeout(stuck);
    stuck = undefined;
    pump();
  });
  response.once('close', () => {
    clearInterval(heartbeat);
    clearTimeout(stuck);
    onClose();
  });
  write(retryFrame(RETRY_MS));
  send(first);
  return {
    pump,
    sendAway: () => {
      write(retryFrame(RETURN_MS.from + Math.random() * (RETURN_MS.to - RETURN_MS.from)));
      response.end();
    },
  };
}

/** @param id event id at which a client can resume */
function frameOf(id: string | undefined, name: string, data: object): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

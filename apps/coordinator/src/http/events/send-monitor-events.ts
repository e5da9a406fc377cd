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

/** A response whose buffer the client does not drain for this long is closed. */
const STUCK_MS = 30_000;
const RETRY_MS = 1_000;
/** Bounds of the random reconnection delay on shutdown, milliseconds, so that clients do not return all at once. */
const RETURN_MS = { from: 500, to: 2_500 };

/** Sends the events of a monitor until it is removed, the response has closed, or `sendAway` ends the stream. */
export function sendMonitorEvents(
  response: ServerResponse,
  options: MonitorStreamOptions,
): { readonly pump: () => void; readonly sendAway: () => void } {
  const stream = new MonitorStream(response, options);
  stream.begin();
  return { pump: () => stream.pump(), sendAway: () => stream.sendAway() };
}

class MonitorStream {
  private readonly response: ServerResponse;
  private readonly options: MonitorStreamOptions;
  private readonly heartbeat: NodeJS.Timeout;
  /** Id of the last event that the client has or was sent. */
  private known: string | undefined;
  private lastTick: number | undefined;
  private isReading = false;
  /** True if the monitor may have changed since the read in progress began. */
  private isChanged = false;
  private stuck: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, options: MonitorStreamOptions) {
    this.response = response;
    this.options = options;
    this.known = options.after;
    this.heartbeat = setInterval(() => {
      this.write(HEARTBEAT_FRAME);
      this.pump();
    }, options.heartbeatMs ?? EVENT_HEARTBEAT_MS);
  }

  begin(): void {
    this.response.on('drain', () => {
      clearTimeout(this.stuck);
      this.stuck = undefined;
      this.pump();
    });
    this.response.once('close', () => {
      clearInterval(this.heartbeat);
      clearTimeout(this.stuck);
      this.options.onClose();
    });
    this.write(retryFrame(RETRY_MS));
    this.send(this.options.first);
  }

  pump(): void {
    if (this.response.writableEnded || this.stuck !== undefined) return;
    this.isChanged = true;
    if (!this.isReading) void this.readNew();
  }

  sendAway(): void {
    this.write(retryFrame(RETURN_MS.from + Math.random() * (RETURN_MS.to - RETURN_MS.from)));
    this.response.end();
  }

  private async readNew(): Promise<void> {
    this.isReading = true;
    do {
      this.isChanged = false;
      // While Redis is unavailable the stream stays open; the next change or heartbeat reads again.
      const reading = await this.options.read(this.known).catch(() => 'unavailable' as const);
      if (reading === undefined) this.response.end();
      else if (reading !== 'unavailable') this.send(reading);
    } while (this.isChanged && !this.response.writableEnded);
    this.isReading = false;
  }

  private send({ snapshot, events, run }: EventsReading): void {
    if (snapshot !== undefined) {
      this.write(frameOf(snapshot.id, 'monitor', snapshot.monitor));
      this.known = snapshot.id;
    }
    for (const { id, event } of events) {
      this.write(frameOf(id, event.kind, event));
      this.known = id;
    }
    if (run !== undefined && run.tick !== this.lastTick) this.write(frameOf(undefined, 'run', run));
    this.lastTick = run?.tick;
  }

  private write(frame: Buffer | string): void {
    const { response } = this;
    if (response.writableEnded || response.destroyed) return;
    this.heartbeat.refresh();
    // While the buffer is full, `pump` begins no read.
    if (!response.write(frame)) this.stuck ??= setTimeout(() => response.destroy(), STUCK_MS);
  }
}

/** @param id event id at which a client can resume */
function frameOf(id: string | undefined, name: string, data: object): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

import { isMonitorName } from '@vantage/contract';
import type { Request } from 'express';

import type { MonitorReads } from '../../../monitors/monitors.ts';
import { callerOf } from '../../caller.ts';
import { streamHeaders, type StreamTimes } from '../../events/send-events.ts';
import { sendMonitorEvents } from '../../events/send-monitor-events.ts';
import type { StreamPlaces } from '../../events/stream-places.ts';
import type { Limit } from '../../limits/rate-limit.ts';
import { HttpProblem } from '../../problem.ts';
import { LAST_EVENT_PARAMETER, lastEventIdOf } from '../../requests/query-parameters.ts';
import type { Endpoint } from '../endpoint.ts';

export interface MonitorEventsOptions {
  readonly monitors: MonitorReads;
  /** Slots that the streams of checks and of monitors share. */
  readonly streams: StreamPlaces;
  readonly streamTimes?: Partial<StreamTimes> | undefined;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  readonly limit: Limit;
}

/** `GET /monitors/:name/events`: Server-Sent Events; resumable by `Last-Event-ID`. */
export function followMonitor(options: MonitorEventsOptions): Endpoint {
  const { monitors, streams, streamTimes, stopping, limit } = options;
  const open = new Set<() => void>();
  stopping.addEventListener('abort', () => open.forEach((sendAway) => sendAway()));

  return {
    path: '/monitors/:name/events',
    method: 'GET',
    scope: 'read',
    parameters: [LAST_EVENT_PARAMETER],
    limit,
    answer: async (request, response) => {
      const leave = streams.take(callerOf(request));
      response.once('close', leave);
      // If the client left while the limit was counted, no `close` event follows.
      if (response.destroyed) return leave();
      const { name = '' } = request.params as { readonly name?: string };
      const after = lastEventId(request);
      let pump = (): void => undefined;
      // Subscribes before the first read, so that no change is missed in between.
      const stopFollowing = monitors.follow(name, () => pump());
      response.once('close', stopFollowing);
      const first = isMonitorName(name) ? await monitors.eventsAfter(name, after) : undefined;
      if (first === undefined) throw new HttpProblem('monitor-not-found', 'There is no monitor with this name.');
      // During the read the client may have left, or a 503 was sent because Redis took too long.
      if (response.destroyed || response.headersSent) return stopFollowing();
      response.writeHead(200, streamHeaders);
      if (request.method === 'HEAD') return void response.end();
      const stream = sendMonitorEvents(response, {
        first,
        after,
        heartbeatMs: streamTimes?.heartbeatMs,
        onClose: () => open.delete(stream.sendAway),
        read: (known) => monitors.eventsAfter(name, known),
      });
      pump = stream.pump;
      open.add(stream.sendAway);
      if (stopping.aborted) stream.sendAway();
    },
  };
}

/** The id in `Last-Event-ID`; undefined without a valid one. */
function lastEventId(request: Request): string | undefined {
  const id = lastEventIdOf(request);
  return id !== undefined && /^\d{1,15}-\d{1,15}$/.test(id) ? id : undefined;
}

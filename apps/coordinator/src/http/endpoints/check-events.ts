import { isCheckId } from '@vantage/contract';
import type { Request } from 'express';

import type { Followers } from '../../checks/read/followers.ts';
import type { LiveCheck, LiveChecks } from '../../checks/read/live-check.ts';
import { callerOf } from '../caller.ts';
import { completedId, createEventFrames } from '../events/event-frames.ts';
import { sendEvents, streamHeaders, type Sending, type StreamTimes } from '../events/send-events.ts';
import { sendWhole, wholeOf } from '../events/send-whole.ts';
import type { StreamPlaces } from '../events/stream-places.ts';
import type { Limit } from '../limits/rate-limit.ts';
import type { Links } from '../links.ts';
import { HttpProblem, NO_SUCH_CHECK } from '../problem.ts';
import { LAST_EVENT_PARAMETER, lastEventIdOf } from '../requests/query-parameters.ts';
import { encodingFor, type CompressedCache } from './compression.ts';
import type { Endpoint } from './endpoint.ts';

export interface CheckEventsOptions {
  readonly live: LiveChecks;
  readonly followers: Pick<Followers, 'note'>;
  /** Slots that the streams of checks and of monitors share. */
  readonly streams: StreamPlaces;
  readonly streamTimes?: Partial<StreamTimes> | undefined;
  readonly links: Links;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  readonly limit: Limit;
  readonly compressed: CompressedCache;
}

/** `GET /check/:id/events`: Server-Sent Events (HTML standard). */
export function followCheck(options: CheckEventsOptions): Endpoint {
  const { live, followers, streams, streamTimes, links, stopping, limit, compressed } = options;
  const frames = createEventFrames((id) => links.path(`/check/${id}/screenshot`));
  const open = new Set<Sending>();
  stopping.addEventListener('abort', () => {
    for (const sending of open) sending.sendAway();
  });

  return {
    path: '/check/:id/events',
    method: 'GET',
    scope: 'read',
    parameters: [LAST_EVENT_PARAMETER],
    limit,
    answer: async (request, response) => {
      const leave = streams.take(callerOf(request));
      response.once('close', leave);
      // If the client left while the limit was counted, no `close` event follows.
      if (response.destroyed) return leave();
      const { id = '' } = request.params as { readonly id?: string };
      let pump = (): void => undefined;
      const followed = await follow(live, id, () => pump()).catch((error: unknown) => {
        leave();
        throw error;
      });
      // During the read the client may have left, or a 503 was sent because Redis took too long.
      if (response.destroyed || response.headersSent) return followed.close();
      const completion = followed.completion();
      const last = lastEventId(request);
      const knowsAll = completion !== undefined && last === completedId(completion);
      // An id above the version: Redis has lost data.
      const after = last > followed.version() ? -1 : last;
      if (request.method === 'HEAD' || knowsAll) {
        followed.close();
        leave();
        // An EventSource does not reconnect after a status other than 200 (HTML standard, section 9.2.3).
        response.writeHead(knowsAll ? 204 : 200, knowsAll ? noStore : streamHeaders).end();
        return;
      }
      const whole = completion === undefined || after >= 0 ? undefined : wholeOf(frames, followed, id, completion);
      const encoding = whole && encodingFor(request, whole.length);
      if (encoding !== undefined) {
        followed.close();
        const body = await compressed.of(`events ${id} ${followed.version()}`, whole!, encoding);
        return sendWhole(response, body, encoding, streamTimes?.stuckMs);
      }
      response.writeHead(200, streamHeaders);
      const stream = sendEvents(response, { id, live: followed, frames, after, times: streamTimes });
      pump = stream.pump;
      open.add(stream);
      const unfollow = followers.note(id, () => pendingOf(followed));
      response.once('close', () => {
        open.delete(stream);
        // A client whose stream ends because the service stops is expected to return: the check is not abandoned.
        if (!stopping.aborted) unfollow();
      });
      if (stopping.aborted) stream.sendAway();
    },
  };
}

/** Probes whose result is pending; none once the check is completed or gone. */
function pendingOf(check: LiveCheck): readonly string[] {
  if (check.completion() !== undefined || check.isGone()) return [];
  const isPending = (json: string): boolean => (JSON.parse(json) as { readonly result: string }).result === 'pending';
  return check
    .since(-1)
    .filter(({ json }) => isPending(json))
    .map(({ probe }) => probe);
}

const noStore = { 'Cache-Control': 'no-store' };

async function follow(live: LiveChecks, id: string, onChange: () => void): Promise<LiveCheck> {
  const followed = isCheckId(id) ? await live.follow(id, onChange) : undefined;
  if (followed !== undefined) return followed;
  throw new HttpProblem('check-not-found', NO_SUCH_CHECK);
}

/** The number in `Last-Event-ID`; -1 without a valid one. */
function lastEventId(request: Request): number {
  const id = lastEventIdOf(request);
  return id !== undefined && /^\d{1,15}$/.test(id) ? Number(id) : -1;
}

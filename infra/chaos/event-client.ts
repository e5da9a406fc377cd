import { setTimeout as sleep } from 'node:timers/promises';

import { readEvents } from '../../packages/client/src/read-events.ts';
import type { Callers } from './callers.ts';
import type { Coordinator } from './deployment.ts';
import { historyNow, type History } from './history.ts';

export interface FollowOptions {
  readonly callers: Callers;
  readonly history: History;
  readonly coordinators: readonly Coordinator[];
  readonly random: () => number;
  /** Aborted to end the observation. */
  readonly signal: AbortSignal;
}

/** Share of streams that the client itself closes after the first event. */
const BREAKS_OFF = 0.3;
const AGAIN_AFTER_MS = 300;

/**
 * Follows a check like `EventSource`, at any coordinator, until it is completed or no longer stored; each event is
 * recorded in the history.
 */
export async function followCheck(check: string, options: FollowOptions): Promise<void> {
  const { callers, history, coordinators, random, signal } = options;
  let lastEventId: number | undefined;
  let ended = false;
  while (!ended && !signal.aborted) {
    const breaksOff = random() < BREAKS_OFF;
    const leaving = new AbortController();
    const coordinator = coordinators[Math.floor(random() * coordinators.length)]!;
    const call = { operation: 'events', path: `/check/${check}/events`, check, lastEventId } as const;
    const answer = await callers.open(
      coordinator,
      { ...call, signal: AbortSignal.any([signal, leaving.signal]) },
      async (response, stream) => {
        if (response.status !== 200) return response.text();
        for await (const { event: name = 'message', data, id } of readEvents(response.body!)) {
          const event = { id: Number(id), name, data: JSON.parse(data) as unknown };
          history.add({ kind: 'event', stream, check, at: historyNow(), fault: callers.fault(), ...event });
          lastEventId = event.id;
          ended = name === 'completed';
          if (ended || breaksOff) break;
        }
        return undefined;
      },
    );
    leaving.abort();
    // 204: the stream has ended; 404 and 410: the check is not stored.
    if ([204, 404, 410].includes(answer.status ?? 0)) return;
    if (!ended) await sleep(AGAIN_AFTER_MS);
  }
}

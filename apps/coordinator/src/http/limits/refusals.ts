import { LRUCache } from 'lru-cache';

/** Maximum number of clients, which bounds the memory for a flood of addresses. */
const MAX_CLIENTS = 100_000;

/** Clients that a limit refused, until a request would be admitted again. */
export interface Refusals {
  readonly remember: (client: string, resetMs: number) => void;
  /** Milliseconds until a request would be admitted; undefined if it may be admitted now. */
  readonly leftMs: (client: string) => number | undefined;
}

/**
 * Remembers refusals, of `maxClients` clients at most, for the time that each states. Requests that are counted
 * meanwhile can only postpone the admission.
 *
 * @param nowMs monotonic clock
 */
export function createRefusals(nowMs: () => number, maxClients = MAX_CLIENTS): Refusals {
  // `maxSize`, because `max` would allocate memory for all entries at once.
  const until = new LRUCache<string, number>({ maxSize: maxClients, sizeCalculation: () => 1 });
  return {
    remember: (client, resetMs) => {
      until.set(client, nowMs() + resetMs);
    },
    leftMs: (client) => {
      const at = until.peek(client);
      if (at === undefined) return undefined;
      const left = at - nowMs();
      if (left > 0) return left;
      until.delete(client);
      return undefined;
    },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';

import { openDirect } from './deployment.ts';
import { historyNow } from './history.ts';

/**
 * Time that does not count toward promises: Redis accepts no writes, no coordinator runs, or the whole machine
 * stalls.
 */
export interface OutageWatch {
  /** Length of the uncounted time within a span, milliseconds; both ends are milliseconds since the epoch. */
  readonly within: (from: number, to: number) => number;
  /** True while Redis accepts no writes or no coordinator runs. */
  readonly now: () => boolean;
  readonly stop: () => Promise<void>;
}

/** Connections to the current masters, which no fault of a link affects. */
export interface WatchedStore {
  /** Rejects unless every master accepts a write. */
  readonly write: () => Promise<unknown>;
  readonly isConnected: () => boolean;
  readonly close: () => void;
}

/** A server, and the key to write; in a cluster, a key that this server stores. */
export interface WatchedServer {
  readonly port: number;
  readonly key?: string;
}

export function openWatched(servers: readonly WatchedServer[]): WatchedStore {
  const connections = servers.map(({ port, key = 'chaos:watch' }) => ({ redis: openDirect(port), key }));
  return {
    write: () => Promise.all(connections.map(({ redis, key }) => redis.set(key, '1', 'PX', 10_000))),
    isConnected: () => connections.every(({ redis }) => redis.status === 'ready'),
    close: () => connections.forEach(({ redis }) => redis.disconnect()),
  };
}

interface Outage {
  readonly from: number;
  readonly to: number;
}

const EVERY_MS = 50;
/** Time after which a write counts as failed. */
const WRITES_WITHIN_MS = 400;

/**
 * Time since the last success from which an outage is recorded although no write failed: a write was slow, or the
 * machine stalled.
 */
const STANDS_STILL_MS = 300;

/**
 * Watches independently, with a write after each pause of 50 ms on connections that no fault of a link affects. An
 * outage lasts from the last success before it to the first after it.
 *
 * @param openStore connects to the servers that accept writes now
 * @param coordinatorRuns called after each write that succeeded; false during an outage of all coordinators
 * @param found called with each outage once it is over
 */
export function watchOutages(
  openStore: () => WatchedStore,
  coordinatorRuns: () => boolean,
  found?: (outage: Outage) => void,
): OutageWatch {
  const outages: Outage[] = [];
  const stopping = new AbortController();
  let store = openStore();
  let lastGood = historyNow();
  let bad = false;

  const isKept = (): boolean => historyNow() - lastGood > STANDS_STILL_MS;
  /** The outage in progress: it begins no earlier than the end of the previous one. */
  const current = (): Outage => ({ from: Math.max(lastGood, outages.at(-1)?.to ?? 0), to: historyNow() });
  const end = (): void => {
    outages.push(current());
    found?.(outages.at(-1)!);
  };
  const writes = async (): Promise<boolean> => {
    const write = store.write().then(
      () => true,
      () => false,
    );
    return Promise.race([write, sleep(WRITES_WITHIN_MS, false)]);
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const askedAt = historyNow();
      const good = (await writes()) && coordinatorRuns();
      if (good) {
        if (bad || isKept()) end();
        lastGood = askedAt;
      } else if (!store.isConnected()) {
        store.close();
        store = openStore();
      }
      bad = !good;
      await sleep(EVERY_MS);
    }
  };
  const looping = loop();

  return {
    within: (from, to) => {
      const open = bad || isKept() ? [current()] : [];
      return [...outages, ...open].reduce(
        (sum, outage) => sum + Math.max(0, Math.min(outage.to, to) - Math.max(outage.from, from)),
        0,
      );
    },
    now: () => bad,
    stop: async () => {
      stopping.abort();
      await looping;
      if (bad) end();
      store.close();
    },
  };
}

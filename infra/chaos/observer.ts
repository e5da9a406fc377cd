import { setTimeout as sleep } from 'node:timers/promises';

import { createCallers } from './callers.ts';
import type { Coordinator } from './deployment.ts';
import { followCheck } from './event-client.ts';
import type { History } from './history.ts';
import type { Recovery } from './recovery.ts';
import type { SeenCheck } from './seen.ts';

/** Starts checks and observes them over HTTP, as clients would, and records its observations without judging them. */
export interface Observer {
  /** Attributes all following requests to this fault. */
  readonly attribute: (fault: string) => void;
  /**
   * Starts this many checks at once at one coordinator. Resolves when each request has ended.
   *
   * @param request sent instead of the usual mix
   */
  readonly burst: (coordinator: Coordinator, count: number, request?: CheckToStart) => Promise<void>;
  readonly noteRecovery: (recoveries: readonly Recovery[]) => void;
  /** Accepted checks that are known to be completed, newest first. */
  readonly completed: () => readonly string[];
  /** Starts no more checks, and waits until every check is completed or can no longer be completed in time. */
  readonly finish: () => Promise<void>;
}

/** The body of a request, and the time from it to the deadline. */
export interface CheckToStart {
  readonly body: object;
  readonly budgetMs: number;
}

export interface ObserverOptions {
  readonly coordinators: readonly Coordinator[];
  readonly history: History;
  readonly nextRequest: () => CheckToStart;
  /** Rate, checks per second. */
  readonly rate: number;
  readonly random: () => number;
}

interface Watched {
  readonly id: string;
  completed: boolean;
  readsLeft: number;
}

const LOOK_EVERY_MS = 400;
const AT_ONCE = 8;
/** Time after which a check has ended or cannot be read at all. */
const GIVE_UP_MS = 120_000;
/** Times that a completed check is read again at once; some are read once more, later. */
const READ_AGAIN = 2;
/** Shares of checks that are followed, of reads with a summary, and of rounds that read an old check. */
const [FOLLOWED, SUMMARIZED, REMEMBERED] = [0.3, 0.25, 0.5];

export function observe(options: ObserverOptions): Observer {
  const { coordinators, history, nextRequest, rate, random } = options;
  const callers = createCallers(history);
  const watched: Watched[] = [];
  /** The checks in `watched` that are still polled. */
  let open: Watched[] = [];
  const stopping = new AbortController();
  const ending = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const streams = new Set<Promise<unknown>>();

  const track = <T>(promise: Promise<T>, among = underWay): Promise<T> => {
    among.add(promise);
    void promise.finally(() => among.delete(promise));
    return promise;
  };

  const start = async (coordinator: Coordinator, { body, budgetMs } = nextRequest()): Promise<void> => {
    const answer = await callers.ask(coordinator, { operation: 'start', path: '/check', body, budgetMs });
    if (answer.status !== 202) return;
    const { checkId: id } = answer.body as { readonly checkId: string };
    const check: Watched = { id, completed: false, readsLeft: READ_AGAIN };
    watched.push(check);
    open.push(check);
    if (random() >= FOLLOWED) return;
    void track(followCheck(id, { callers, history, coordinators, random, signal: ending.signal }), streams);
  };

  const look = async (check: Watched): Promise<void> => {
    const { id } = check;
    const call = { operation: 'results', path: `/check/${id}/results`, check: id } as const;
    const answer = await callers.ask(pick(coordinators, random), call);
    if (random() < SUMMARIZED) {
      await callers.ask(pick(coordinators, random), { operation: 'summary', path: `/check/${id}/summary`, check: id });
    }
    if (answer.status === 404 || answer.status === 410) check.readsLeft = 0;
    if (check.completed) check.readsLeft -= 1;
    if (answer.status === 200 && (answer.body as SeenCheck).status === 'completed') check.completed = true;
  };

  const starting = (async () => {
    while (!stopping.signal.aborted) {
      void track(start(pick(coordinators, random)));
      await sleep(1_000 / rate);
    }
  })();
  let giveUpAt = Number.POSITIVE_INFINITY;
  const looking = (async () => {
    for (;;) {
      open = open.filter(({ readsLeft }) => readsLeft > 0);
      if (performance.now() > giveUpAt || (stopping.signal.aborted && underWay.size === 0 && open.length === 0)) return;
      // A few at a time: reading all at once would add load.
      const round = [...open, ...(watched.length > 0 && random() < REMEMBERED ? [pick(watched, random)] : [])];
      for (let from = 0; from < round.length; from += AT_ONCE) {
        await Promise.all(round.slice(from, from + AT_ONCE).map(look));
      }
      await sleep(LOOK_EVERY_MS);
    }
  })();

  return {
    attribute: callers.attribute,
    burst: async (coordinator, count, given) => {
      await Promise.all(Array.from({ length: count }, () => track(start(coordinator, given))));
    },
    noteRecovery: (recoveries) => {
      for (const recovery of recoveries) {
        history.add({ kind: 'recovery', fault: callers.fault(), ...recovery });
      }
    },
    completed: () => watched.flatMap(({ id, completed }) => (completed ? [id] : [])).toReversed(),
    finish: async () => {
      stopping.abort();
      await starting;
      await Promise.all(underWay);
      giveUpAt = performance.now() + GIVE_UP_MS;
      await looking;
      // A stream ends with its check; one that does not is reported as a stream without an end.
      await Promise.race([Promise.all(streams), sleep(LOOK_EVERY_MS * 10, undefined, { ref: false })]);
      ending.abort();
      await Promise.all(streams);
    },
  };
}

function pick<T>(items: readonly T[], random: () => number): T {
  return items[Math.floor(random() * items.length)]!;
}

import { setTimeout as sleep } from 'node:timers/promises';

import { createCallers, type Callers } from './callers.ts';
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
  /** Starts no more checks, and waits until every check was seen completed or cannot be read, at most two minutes. */
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
  /** Pause between two polls of all open checks, milliseconds; 400 if undefined. */
  readonly pollIntervalMs?: number | undefined;
}

interface Watched {
  readonly id: string;
  completed: boolean;
  readsLeft: number;
}

const POLL_INTERVAL_MS = 400;
const AT_ONCE = 8;
/** Longest time for which `finish` waits for checks to be completed. */
const GIVE_UP_MS = 120_000;
/** Rounds in which a completed check is read again; some are also read later, at random. */
const READ_AGAIN = 2;
/** Shares of checks that are followed, of reads with a summary, and of rounds that read an old check. */
const [FOLLOWED, SUMMARIZED, REMEMBERED] = [0.3, 0.25, 0.5];

export function observe(options: ObserverOptions): Observer {
  return new ClientObserver(options);
}

class ClientObserver implements Observer {
  readonly attribute: Observer['attribute'];
  private readonly options: ObserverOptions;
  private readonly callers: Callers;
  private readonly watched: Watched[] = [];
  /** The checks in `watched` that are still polled. */
  private open: Watched[] = [];
  private readonly stopping = new AbortController();
  private readonly ending = new AbortController();
  private readonly underWay = new Set<Promise<unknown>>();
  private readonly streams = new Set<Promise<unknown>>();
  private giveUpAt = Number.POSITIVE_INFINITY;
  private readonly starting: Promise<void>;
  private readonly polling: Promise<void>;

  constructor(options: ObserverOptions) {
    this.options = options;
    this.callers = createCallers(options.history);
    this.attribute = this.callers.attribute;
    this.starting = this.startChecks();
    this.polling = this.lookAtChecks();
  }

  readonly burst: Observer['burst'] = async (coordinator, count, given) => {
    await Promise.all(Array.from({ length: count }, () => track(this.start(coordinator, given), this.underWay)));
  };

  readonly noteRecovery: Observer['noteRecovery'] = (recoveries) => {
    for (const recovery of recoveries) {
      this.options.history.add({ kind: 'recovery', fault: this.callers.fault(), ...recovery });
    }
  };

  readonly completed = (): readonly string[] =>
    this.watched.flatMap(({ id, completed }) => (completed ? [id] : [])).toReversed();

  readonly finish = async (): Promise<void> => {
    this.stopping.abort();
    await this.starting;
    await Promise.all(this.underWay);
    this.giveUpAt = performance.now() + GIVE_UP_MS;
    await this.polling;
    // A stream ends with its check; one that does not is aborted, which counts as an unanswered request.
    await Promise.race([Promise.all(this.streams), sleep(POLL_INTERVAL_MS * 10, undefined, { ref: false })]);
    this.ending.abort();
    await Promise.all(this.streams);
  };

  private async startChecks(): Promise<void> {
    const { coordinators, random, rate } = this.options;
    while (!this.stopping.signal.aborted) {
      void track(this.start(pick(coordinators, random)), this.underWay);
      await sleep(1_000 / rate);
    }
  }

  private async start(
    coordinator: Coordinator,
    { body, budgetMs }: CheckToStart = this.options.nextRequest(),
  ): Promise<void> {
    const { callers } = this;
    const { history, coordinators, random } = this.options;
    const answer = await callers.ask(coordinator, { operation: 'start', path: '/check', body, budgetMs });
    if (answer.status !== 202) return;
    const { checkId: id } = answer.body as { readonly checkId: string };
    const check: Watched = { id, completed: false, readsLeft: READ_AGAIN };
    this.watched.push(check);
    this.open.push(check);
    if (random() >= FOLLOWED) return;
    void track(followCheck(id, { callers, history, coordinators, random, signal: this.ending.signal }), this.streams);
  }

  private async lookAtChecks(): Promise<void> {
    const { random, pollIntervalMs = POLL_INTERVAL_MS } = this.options;
    const { signal } = this.stopping;
    for (;;) {
      this.open = this.open.filter(({ readsLeft }) => readsLeft > 0);
      if (performance.now() > this.giveUpAt) return;
      if (signal.aborted && this.underWay.size === 0 && this.open.length === 0) return;
      const old = this.watched.length > 0 && random() < REMEMBERED ? [pick(this.watched, random)] : [];
      const round = [...this.open, ...old];
      // In batches, because reading all checks of the round at once would add load.
      for (let from = 0; from < round.length; from += AT_ONCE) {
        await Promise.all(round.slice(from, from + AT_ONCE).map((check) => this.poll(check)));
      }
      await sleep(signal.aborted ? POLL_INTERVAL_MS : pollIntervalMs);
    }
  }

  private async poll(check: Watched): Promise<void> {
    const { callers } = this;
    const { coordinators, random } = this.options;
    const { id } = check;
    const call = { operation: 'results', path: `/check/${id}/results`, check: id } as const;
    const answer = await callers.ask(pick(coordinators, random), call);
    if (random() < SUMMARIZED) {
      await callers.ask(pick(coordinators, random), { operation: 'summary', path: `/check/${id}/summary`, check: id });
    }
    if (answer.status === 404 || answer.status === 410) check.readsLeft = 0;
    if (check.completed) check.readsLeft -= 1;
    if (answer.status === 200 && (answer.body as SeenCheck).status === 'completed') check.completed = true;
  }
}

function track<T>(promise: Promise<T>, among: Set<Promise<unknown>>): Promise<T> {
  among.add(promise);
  void promise.finally(() => among.delete(promise));
  return promise;
}

function pick<T>(items: readonly T[], random: () => number): T {
  return items[Math.floor(random() * items.length)]!;
}

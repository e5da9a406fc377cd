import { setTimeout as sleep } from 'node:timers/promises';

import type { Coordinator } from './deployment.ts';
import { newTally, note, type Tally } from './ledger.ts';
import type { OutageWatch } from './outage-watch.ts';
import type { Recovery } from './recovery.ts';

/** Starts checks and looks at them over HTTP, as a caller would; knows nothing of what goes on inside. */
export interface Observer {
  /** What is done from now on counts for this fault. */
  readonly attribute: (fault: string) => void;
  /**
   * Starts so many checks at once at one coordinator. Resolves when each has its answer, or none.
   *
   * @param request what to ask for instead of the usual mix
   */
  readonly burst: (coordinator: Coordinator, count: number, request?: CheckToStart) => Promise<void>;
  /** Notes how the probes came back after the fault that is attributed. */
  readonly noteRecovery: (recoveries: readonly Recovery[]) => void;
  /** Newest accepted checks first, those known to be completed alone. */
  readonly completed: () => readonly string[];
  readonly pending: () => number;
  /** Starts no more, and waits until every check is completed or can no more be so in time. */
  readonly finish: () => Promise<readonly Tally[]>;
}

/** The body of a request, and how long after it the deadline is. */
export interface CheckToStart {
  readonly body: object;
  readonly budgetMs: number;
}

export interface ObserverOptions {
  readonly coordinators: readonly Coordinator[];
  readonly outages: OutageWatch;
  readonly nextRequest: () => CheckToStart;
  /** Checks a second. */
  readonly rate: number;
  readonly random: () => number;
  /** How much later than two seconds after its deadline a check may be completed, for machines that others keep busy. */
  readonly indulgenceMs?: number;
}

interface Watched {
  readonly id: string;
  readonly budgetMs: number;
  readonly tally: Tally;
  /** What it said when it was first seen completed. */
  body?: string;
  readsLeft: number;
  deadlineAt?: number;
  ended: boolean;
}

interface Check {
  readonly status: string;
  readonly createdAt: string;
  readonly completedAt: string | null;
  readonly results: Readonly<
    Record<string, { readonly result: string; readonly error?: { readonly code: string } | null }>
  >;
}

const PROMISED_MS = 2_000;
const LOOK_EVERY_MS = 400;
const AT_ONCE = 8;
/** Every check has ended by then, or cannot be read at all. */
const GIVE_UP_MS = 120_000;
/** Times that a completed check is read again. */
const READ_AGAIN = 2;
/** Nothing that the service does takes as long; `?wait=` is not used. */
const ANSWERS_WITHIN_MS = 20_000;

export function observe(options: ObserverOptions): Observer {
  const { coordinators, outages, nextRequest, rate, random, indulgenceMs = 0 } = options;
  const tallies = new Map<string, Tally>();
  const watched: Watched[] = [];
  const stopping = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  let tally = newTally('none');

  const track = <T>(promise: Promise<T>): Promise<T> => {
    underWay.add(promise);
    void promise.finally(() => underWay.delete(promise));
    return promise;
  };

  /** The response, or undefined where there was none; counts the latter. */
  const request = async (
    { part, url }: Coordinator,
    path: string,
    counted: Tally,
    init: RequestInit = {},
  ): Promise<{ readonly status: number; readonly text: string; readonly ms: number } | undefined> => {
    const sentAt = performance.now();
    try {
      const response = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
      const text = await response.text();
      const ms = performance.now() - sentAt;
      if (response.status === 503) {
        counted.refused += 1;
        counted.refusalsMs.push(ms);
        counted.lastRefusal = `${path}: ${text.slice(0, 300)}`;
        if (!response.headers.has('retry-after')) counted.refusedWithoutRetryAfter += 1;
      }
      return { status: response.status, text, ms };
    } catch (error) {
      if (part.ranSince(sentAt)) {
        counted.unanswered += 1;
        note(counted, `no answer from ${part.name} to ${path}: ${reasonOf(error)}`);
      } else counted.cutOff += 1;
      return undefined;
    }
  };

  const start = async (coordinator: Coordinator, { body, budgetMs } = nextRequest()): Promise<void> => {
    const counted = tally;
    const answer = await request(coordinator, '/check', counted, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (answer === undefined || answer.status === 503) return;
    if (answer.status !== 202) {
      // Where every probe is offline there is none to take it.
      if (answer.status !== 422) {
        counted.wrong += 1;
        note(counted, `POST /check: ${answer.status} ${answer.text.slice(0, 300)}`);
      }
      return;
    }
    counted.accepted += 1;
    const { checkId } = JSON.parse(answer.text) as { readonly checkId: string };
    watched.push({ id: checkId, budgetMs, tally: counted, readsLeft: READ_AGAIN, ended: false });
  };

  const look = async (check: Watched): Promise<void> => {
    const askedAt = Date.now();
    const answer = await request(pick(coordinators, random), `/check/${check.id}/results`, check.tally);
    if (answer === undefined || answer.status === 503) return;
    if (answer.status === 404) {
      check.tally.lost += 1;
      note(check.tally, `check ${check.id} is lost`);
      check.ended = true;
      return;
    }
    if (answer.status !== 200) {
      check.tally.wrong += 1;
      note(check.tally, `GET: ${answer.status} ${answer.text.slice(0, 300)}`);
      return;
    }
    const seen = JSON.parse(answer.text) as Check;
    judge(check, seen, answer.text, askedAt);
  };

  const judge = (check: Watched, seen: Check, text: string, askedAt: number): void => {
    const createdAt = Date.parse(seen.createdAt);
    const deadlineAt = createdAt + check.budgetMs;
    check.deadlineAt = deadlineAt;
    if (check.body !== undefined) {
      check.readsLeft -= 1;
      if (text !== check.body) {
        check.tally.changed += 1;
        note(check.tally, `check ${check.id} said ${check.body} and then ${text}`.slice(0, 2_000));
      }
      if (check.readsLeft <= 0 || text !== check.body) check.ended = true;
      return;
    }
    const latenessAt = (at: number): number => at - deadlineAt - outages.within(createdAt, at);
    if (seen.status === 'completed') {
      check.body = text;
      const latenessMs = latenessAt(Date.parse(seen.completedAt ?? ''));
      check.tally.worstLatenessMs = Math.max(check.tally.worstLatenessMs, latenessMs);
      check.tally.timedOut += Object.values(seen.results).filter(({ error }) => error?.code === 'probe_timeout').length;
      const finals = Object.values(seen.results).filter(({ result }) => result !== 'pending');
      if (finals.length !== Object.keys(seen.results).length || finals.length === 0) {
        check.tally.changed += 1;
        note(check.tally, `check ${check.id} is completed without all results: ${text}`.slice(0, 2_000));
      }
      if (!(latenessMs <= PROMISED_MS + indulgenceMs)) markLate(check, latenessMs);
      return;
    }
    // It says of itself that it is not completed, at a time when it should be.
    if (latenessAt(askedAt) > PROMISED_MS + indulgenceMs && !check.ended) {
      markLate(check, latenessAt(askedAt));
      check.ended = true;
    }
  };

  const markLate = (check: Watched, latenessMs: number): void => {
    check.tally.late += 1;
    check.tally.worstLatenessMs = Math.max(check.tally.worstLatenessMs, latenessMs);
    note(check.tally, `check ${check.id} was late by ${Math.round(latenessMs)} ms`);
  };

  const markUnread = (check: Watched): void => {
    check.tally.late += 1;
    note(check.tally, `check ${check.id} could not be read to its end`);
  };

  const starting = (async () => {
    while (!stopping.signal.aborted) {
      void track(start(pick(coordinators, random)));
      await sleep(1_000 / rate);
    }
  })();
  let finishing = false;
  let giveUpAt = Number.POSITIVE_INFINITY;
  const looking = (async () => {
    for (;;) {
      const open = watched.filter(({ ended }) => !ended);
      if (finishing && open.length === 0) return;
      if (performance.now() > giveUpAt) {
        for (const check of open) markUnread(check);
        return;
      }
      // A few at a time: reading all at once would be a load of its own.
      for (let from = 0; from < open.length; from += AT_ONCE) {
        await Promise.all(open.slice(from, from + AT_ONCE).map((check) => track(look(check))));
      }
      await sleep(LOOK_EVERY_MS);
    }
  })();

  return {
    attribute: (fault) => {
      tally = tallies.get(fault) ?? newTally(fault);
      tallies.set(fault, tally);
    },
    burst: async (coordinator, count, given) => {
      await Promise.all(Array.from({ length: count }, () => track(start(coordinator, given))));
    },
    noteRecovery: (recoveries) => {
      for (const { probe, ms } of recoveries) {
        if (Number.isFinite(ms)) tally.slowestRecoveryMs = Math.max(tally.slowestRecoveryMs, ms);
        else {
          tally.deaf += 1;
          note(tally, `${probe} had no success in time after the fault`);
        }
      }
    },
    completed: () => watched.flatMap(({ id, body }) => (body === undefined ? [] : [id])).toReversed(),
    pending: () => watched.filter(({ ended, body }) => !ended && body === undefined).length,
    finish: async () => {
      stopping.abort();
      await starting;
      await Promise.all(underWay);
      finishing = true;
      giveUpAt = performance.now() + GIVE_UP_MS;
      await looking;
      return [...tallies.values()];
    },
  };
}

function pick<T>(items: readonly T[], random: () => number): T {
  return items[Math.floor(random() * items.length)]!;
}

/** What `fetch` rejects with says little; why is in its cause. */
function reasonOf(error: unknown): string {
  if (!Error.isError(error)) return 'unknown';
  return Error.isError(error.cause) ? `${error.message} (${error.cause.message})` : error.message;
}

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';

import { FairQueue, type FairQueueOptions, type Waiting } from './fair-queue.ts';

/** Requests that begin in one turn of the event loop. */
export const PER_TURN = 8;
/** Overdue requests, which are refused, in one turn: with more, refusals would use the time of what is accepted. */
export const OVERDUE_PER_TURN = 16;
/** Most turns in succession in which waiting requests give way to connections that are being accepted. */
const MOST_ACCEPTING = 256;
/** A queue that has not been empty for this long, and for this number of turns, is a standing queue, not a burst. */
const STANDING_MS = 1_000;
const STANDING_TURNS = 32;
/**
 * Waits after which a request in a standing queue is overdue: if the queue was already standing when the request
 * arrived, and if not.
 */
const OVERDUE_MS = 100;
const BURST_OVERDUE_MS = 5_000;

const overdue = Symbol('overdue');
const arrival = Symbol('arrival');

type Paced = IncomingMessage & { [overdue]?: true; [arrival]?: number };

/**
 * Passes on `PER_TURN` requests at the end of each turn of the event loop, and the rest in later turns. Node accepts
 * only one connection in a turn. If a turn began all requests that have arrived, or each turn that of the connection
 * accepted before, connections would wait in the kernel for seconds, unnoticed by the process: therefore requests wait
 * while connections are being accepted. POST requests, which can be refused, wait in a separate queue; if both have
 * requests, each gets half. Clients share each queue equally.
 *
 * @param server reports accepted connections by its event `connection`
 */
export function paceRequests(
  server: Pick<Server, 'on'>,
  listener: RequestListener,
  { clientOf = () => '', nowMs = () => performance.now() }: PaceOptions = {},
): RequestListener {
  const queue = new RequestQueue(listener, clientOf, nowMs);
  server.on('connection', queue.accepted);
  return queue.take;
}

export interface PaceOptions {
  /** Identifies the client of a request; called only while requests wait. */
  readonly clientOf?: ((request: IncomingMessage) => string) | undefined;
  /** Monotonic clock. */
  readonly nowMs?: () => number;
}

/** True if the POST request has waited too long in a queue that does not become empty: the process is overloaded. */
export function isOverdue(request: IncomingMessage): boolean {
  return (request as Paced)[overdue] === true;
}

export function markOverdue(request: IncomingMessage): void {
  (request as Paced)[overdue] = true;
}

/** When the head of the request was read: monotonic clock, milliseconds. */
export function arrivalOf(request: IncomingMessage): number {
  return (request as Paced)[arrival] ?? performance.now();
}

interface Paused extends Waiting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly overdueAt: number;
  /** Number of the turn before which the request arrived. */
  readonly turn: number;
}

class RequestQueue {
  private readonly listener: RequestListener;
  private readonly nowMs: () => number;
  /** Requests of load balancers, for which a late answer means that the coordinator is down: they go first. */
  private readonly health: FairQueue<Paused>;
  private readonly posts: FairQueue<Paused>;
  private readonly others: FairQueue<Paused>;
  private hasAccepted = false;
  private turnsAccepting = 0;
  private isTurnExpected = false;
  /** Turns in which requests were passed on. */
  private turn = 0;
  /** Time and turn at which the first of `posts` had to wait. */
  private standsSince = 0;
  private standsSinceTurn = 0;

  constructor(listener: RequestListener, clientOf: (request: IncomingMessage) => string, nowMs: () => number) {
    this.listener = listener;
    this.nowMs = nowMs;
    const lane: FairQueueOptions<Paused> = {
      clientOf: ({ request }) => clientOf(request),
      hasLeft: ({ request }) => request.socket.destroyed,
    };
    this.health = new FairQueue(lane);
    this.posts = new FairQueue(lane);
    this.others = new FairQueue(lane);
  }

  readonly accepted = (): void => {
    this.hasAccepted = true;
    this.expectTurn();
  };

  readonly take: RequestListener = (request, response) => {
    this.expectTurn();
    const since = this.nowMs();
    const { turn } = this;
    (request as Paced)[arrival] = since;
    const queue = this.queueOf(request);
    if (queue === this.posts && queue.length === 0) {
      this.standsSince = since;
      this.standsSinceTurn = turn;
    }
    const overdueAt = since + (this.isStanding(since) ? OVERDUE_MS : BURST_OVERDUE_MS);
    queue.add({ request, response, overdueAt, turn });
  };

  private queueOf(request: IncomingMessage): FairQueue<Paused> {
    if (request.method === 'POST') return this.posts;
    return isHealth(request) ? this.health : this.others;
  }

  private expectTurn(): void {
    if (this.isTurnExpected) return;
    this.isTurnExpected = true;
    setImmediate(() => {
      this.isTurnExpected = false;
      this.nextTurn();
    });
  }

  private nextTurn(): void {
    const givesWay = this.hasAccepted && this.turnsAccepting < MOST_ACCEPTING && this.areWaiting();
    this.hasAccepted = false;
    this.turnsAccepting = givesWay ? this.turnsAccepting + 1 : 0;
    if (!givesWay) this.passOnSome();
    if (this.areWaiting()) this.expectTurn();
  }

  private areWaiting(): boolean {
    return this.health.length + this.posts.length + this.others.length > 0;
  }

  private isStanding(now: number): boolean {
    return now - this.standsSince > STANDING_MS && this.turn - this.standsSinceTurn > STANDING_TURNS;
  }

  private passOnSome(): void {
    this.passOn(this.health.take(PER_TURN));
    const others = this.others.take(Math.max(PER_TURN / 2, PER_TURN - this.posts.length));
    this.passOn(others);
    if (this.posts.length > 0) this.passOnPosts(PER_TURN - others.length);
    this.turn += 1;
  }

  private passOnPosts(most: number): void {
    const now = this.nowMs();
    const isStanding = this.isStanding(now);
    // A request that no turn has passed over yet is not late, however long the turn took.
    const isLate = ({ overdueAt, turn }: Paused): boolean => isStanding && now > overdueAt && turn < this.turn;
    const late = this.posts.takeOldest(OVERDUE_PER_TURN, isLate);
    for (const { request } of late) markOverdue(request);
    this.passOn(late);
    this.passOn(this.posts.take(most, (post) => !isLate(post)));
  }

  private passOn(requests: readonly Paused[]): void {
    for (const { request, response } of requests) this.listener(request, response);
  }
}

function isHealth({ url = '' }: IncomingMessage): boolean {
  return /\/(?:healthz|readyz)(?:\?|$)/.test(url);
}

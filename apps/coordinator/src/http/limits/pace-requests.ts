import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';

/** Requests that begin in one turn of the event loop. */
export const PER_TURN = 8;
/** Overdue requests, which are refused, in one turn: with more, refusals would use the time of what is accepted. */
export const OVERDUE_PER_TURN = 16;
/** Most turns in succession in which waiting requests give way to connections that are being accepted. */
const MOST_ACCEPTING = 256;
/** What arrives at a queue that was not empty for this time, and for this number of turns, belongs to no burst. */
const STANDING_MS = 1_000;
const STANDING_TURNS = 32;
/** Wait after which such a request is overdue, and one of a burst. */
const OVERDUE_MS = 100;
const BURST_OVERDUE_MS = 5_000;

const overdue = Symbol('overdue');
const arrival = Symbol('arrival');

type Paced = IncomingMessage & { [overdue]?: true; [arrival]?: number };

/**
 * Passes on `PER_TURN` requests in each turn of the event loop, and the rest in later turns. Node accepts only one
 * connection in a turn: in turns with all requests that have arrived, new clients would wait for seconds, unnoticed by
 * the process. POST requests, which can be refused, wait in a separate queue; if both have requests, each gets half.
 *
 * @param server notes its connections
 * @param listener called at once as long as the process keeps up
 * @param nowMs monotonic clock
 */
export function paceRequests(
  server: Pick<Server, 'on'>,
  listener: RequestListener,
  nowMs = (): number => performance.now(),
): RequestListener {
  const queue = new RequestQueue(listener, nowMs);
  server.on('connection', queue.accepted);
  return queue.take;
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

interface Waiting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly overdueAt: number;
}

class RequestQueue {
  private readonly listener: RequestListener;
  private readonly nowMs: () => number;
  private posts: Waiting[] = [];
  private readonly others: Waiting[] = [];
  /** Requests passed on in this turn. */
  private begun = 0;
  private hasAccepted = false;
  private turnsAccepting = 0;
  private isTurnExpected = false;
  /** Time at which the first of `posts` had to wait, and the turns since. */
  private standsSince = 0;
  private turnsStanding = 0;

  constructor(listener: RequestListener, nowMs: () => number) {
    this.listener = listener;
    this.nowMs = nowMs;
  }

  readonly accepted = (): void => {
    this.hasAccepted = true;
    this.expectTurn();
  };

  readonly take: RequestListener = (request, response) => {
    this.expectTurn();
    const queue = request.method === 'POST' ? this.posts : this.others;
    if (queue.length === 0 && this.begun < PER_TURN) {
      this.begun += 1;
      this.listener(request, response);
      return;
    }
    const since = this.nowMs();
    if (queue === this.posts && queue.length === 0) {
      this.standsSince = since;
      this.turnsStanding = 0;
    }
    (request as Paced)[arrival] = since;
    const overdueAt = since + (this.isStanding(since) ? OVERDUE_MS : BURST_OVERDUE_MS);
    queue.push({ request, response, overdueAt });
  };

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
    if (!givesWay) {
      this.begun = 0;
      this.passOnOthers(Math.max(PER_TURN / 2, PER_TURN - this.posts.length));
      this.passOnPosts();
    }
    if (this.areWaiting()) this.expectTurn();
  }

  private areWaiting(): boolean {
    return this.posts.length + this.others.length > 0;
  }

  private isStanding(now: number): boolean {
    return now - this.standsSince > STANDING_MS && this.turnsStanding > STANDING_TURNS;
  }

  private passOnOthers(most: number): void {
    let taken = 0;
    const next: Waiting[] = [];
    for (const other of this.others) {
      if (next.length >= most) break;
      taken += 1;
      if (!hasLeft(other)) next.push(other);
    }
    this.others.splice(0, taken);
    this.begun += next.length;
    this.passOn(next);
  }

  /** Passes on the oldest that are not overdue, and the oldest of the overdue ones in addition. */
  private passOnPosts(): void {
    if (this.posts.length === 0) return;
    const now = this.nowMs();
    this.turnsStanding += 1;
    const isStanding = this.isStanding(now);
    const late: Waiting[] = [];
    const next: Waiting[] = [];
    const kept: Waiting[] = [];
    for (const post of this.posts) {
      if (hasLeft(post)) continue;
      if (isStanding && now > post.overdueAt) (late.length < OVERDUE_PER_TURN ? late : kept).push(post);
      else (this.begun + next.length < PER_TURN ? next : kept).push(post);
    }
    this.posts = kept;
    this.begun += next.length;
    for (const { request } of late) markOverdue(request);
    this.passOn(late);
    this.passOn(next);
  }

  private passOn(requests: readonly Waiting[]): void {
    for (const { request, response } of requests) this.listener(request, response);
  }
}

function hasLeft({ request }: Waiting): boolean {
  return request.socket.destroyed;
}

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';

/** Requests that begin in one turn of the event loop. */
export const PER_TURN = 8;
/** Most turns in succession in which waiting requests give way to connections that are being accepted. */
const MOST_ACCEPTING = 256;
/** A queue that was not empty for this time, and for this number of turns, is no burst. */
const STANDING_MS = 1_000;
const STANDING_TURNS = 32;
/** Wait of a request in such a queue after which it is overdue. */
const OVERDUE_MS = 100;

const overdue = Symbol('overdue');
const arrival = Symbol('arrival');

type Paced = IncomingMessage & { [overdue]?: true; [arrival]?: number };

/**
 * Passes on `PER_TURN` requests in each turn of the event loop, and the rest in later turns, in order. Node accepts only
 * one connection in a turn: in turns with all requests that have arrived, new clients would wait for seconds, unnoticed
 * by the process. What waits here can be refused.
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

/** True if the request has waited too long in a queue that does not become empty: the process is overloaded. */
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
  readonly since: number;
}

class RequestQueue {
  private readonly listener: RequestListener;
  private readonly nowMs: () => number;
  private readonly waiting: Waiting[] = [];
  /** Requests passed on in this turn. */
  private begun = 0;
  private hasAccepted = false;
  private turnsAccepting = 0;
  private isTurnExpected = false;
  /** Time at which the first request of the queue had to wait, and the turns since. */
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
    if (this.waiting.length === 0 && this.begun < PER_TURN) {
      this.begun += 1;
      this.listener(request, response);
      return;
    }
    const since = this.nowMs();
    if (this.waiting.length === 0) {
      this.standsSince = since;
      this.turnsStanding = 0;
    }
    (request as Paced)[arrival] = since;
    this.waiting.push({ request, response, since });
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
    const givesWay = this.hasAccepted && this.turnsAccepting < MOST_ACCEPTING && this.waiting.length > 0;
    this.hasAccepted = false;
    this.turnsAccepting = givesWay ? this.turnsAccepting + 1 : 0;
    if (!givesWay) {
      this.begun = 0;
      this.passOn();
    }
    if (this.waiting.length > 0) this.expectTurn();
  }

  /** Passes on the overdue requests, which cost little, and `PER_TURN` others. */
  private passOn(): void {
    const now = this.nowMs();
    this.turnsStanding += 1;
    const isStanding = now - this.standsSince > STANDING_MS && this.turnsStanding > STANDING_TURNS;
    let passed = 0;
    for (const { request, response, since } of this.waiting) {
      const isLate = isStanding && now - since > OVERDUE_MS;
      if (!isLate && this.begun >= PER_TURN) break;
      passed += 1;
      if (request.socket.destroyed) continue;
      if (isLate) markOverdue(request);
      else this.begun += 1;
      this.listener(request, response);
    }
    this.waiting.splice(0, passed);
  }
}

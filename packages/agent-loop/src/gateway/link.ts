import { EventEmitter } from 'node:events';

import type { AgentMessage, GatewayMessage, GatewayWelcome } from '@vantage/contract';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';

import { createGatewayMessageReader } from '../frames/validate.ts';
import { beginOutage, pauseAfter, reportFailure } from './pause-after.ts';
import type { Reconnect } from './reconnect.ts';
import { openSession, type AgentIdentity, type Closed, type Session, type SessionOptions } from './session.ts';

/** Maintains one session, with any gateway of the service; attempts to connect may overlap. */
export interface GatewayLink {
  readonly start: () => void;
  /** Ends the connection and opens no other one. */
  readonly stop: () => void;
  /** The session for messages; undefined while disconnected. */
  readonly session: () => Session | undefined;
  readonly send: (message: AgentMessage) => void;
  /** For metrics: `ready` while connected. */
  readonly watched: { readonly status: string; readonly on: (event: 'ready', listener: () => void) => unknown };
}

export interface LinkOptions {
  readonly dial: () => WebSocket;
  readonly identity: AgentIdentity;
  readonly hello: SessionOptions['hello'];
  readonly reconnect: Reconnect;
  /** Called with each new connection that the gateway accepted. */
  readonly onReady: (session: Session, welcome: GatewayWelcome) => void;
  readonly onMessage: (message: GatewayMessage, session: Session) => void;
  /** Called when a connection, or an attempt at one, has ended: unanswered messages on it are lost. */
  readonly onLost: (session: Session, end: Closed) => void;
  /** Called when only another token or process can help. */
  readonly onHopeless: () => void;
  readonly log: Logger;
}

/** Concurrent attempts: one may hang at a stalled gateway; the first success wins. */
const MOST_ATTEMPTS = 4;
/** Time for a gateway to accept the proof. */
const ACCEPT_MS = 10_000;
/** Duration after which a connection counts as a success. */
const PROVED_MS = 10_000;

export function createGatewayLink(options: LinkOptions): GatewayLink {
  return new Link(options);
}

class Link implements GatewayLink {
  readonly #options: LinkOptions;
  readonly #read = createGatewayMessageReader();
  readonly #events = new EventEmitter();
  #current: Session | undefined;
  /** Candidates for the current session. */
  readonly #attempts = new Set<Session>();
  /** The candidate that was asked for its proof. If its gateway accepts the proof, the current session is closed. */
  #proven: Session | undefined;
  #timer: NodeJS.Timeout | undefined;
  #proving: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** While the current gateway stops (`#isLeaving`) or is silent, attempts to reach another one are repeated. */
  #isLeaving = false;
  #isSilent = false;
  #outage = beginOutage();

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get watched(): GatewayLink['watched'] {
    const current = this.session;
    return {
      get status() {
        return current() === undefined ? 'connecting' : 'ready';
      },
      on: (event, listener) => this.#events.on(event, listener),
    };
  }

  readonly stop = (): void => {
    this.#isStopped = true;
    for (const timer of [this.#timer, this.#proving]) clearTimeout(timer);
    this.#current?.close();
    this.#endAttempts();
  };

  readonly start = (): void => this.#connect();
  readonly session = (): Session | undefined => this.#current;
  readonly send = (message: AgentMessage): void => this.#current?.send(message);

  #connect(): void {
    // The current gateway may have answered again meanwhile.
    if (this.#isStopped || !this.#isNeeded()) return;
    if (this.#attempts.size < MOST_ATTEMPTS) {
      const { dial, identity, hello } = this.#options;
      this.#attempts.add(
        openSession({
          socket: dial(),
          identity,
          hello,
          read: this.#read,
          onChallenged: (session) => this.#challenged(session),
          onSilence: (isSilent, session) => this.#heard(isSilent, session),
          onMessage: (message, session) => this.#take(message, session),
          onClosed: (end, session) => this.#closed(end, session),
        }),
      );
    }
    this.#connectIn(this.#options.reconnect.beforeAnother());
  }

  #isNeeded(): boolean {
    return this.#current === undefined || this.#isLeaving || this.#isSilent;
  }

  #connectIn(ms: number): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), ms);
  }

  #endAttempts(except?: Session): void {
    for (const attempt of this.#attempts) {
      if (attempt === except) continue;
      this.#attempts.delete(attempt);
      attempt.terminate();
    }
  }

  /** Ends all other attempts: of two proofs under way, gateways might see the newer counter first. */
  #challenged(session: Session): void {
    this.#proven = session;
    this.#endAttempts(session);
    this.#connectIn(ACCEPT_MS);
  }

  #heard(isSilent: boolean, session: Session): void {
    if (session !== this.#current) return;
    this.#isSilent = isSilent;
    if (isSilent) {
      this.#options.log.warn('the gateway does not answer: looking for another one');
      return this.#connectIn(this.#options.reconnect.afterSilence());
    }
    if (this.#isLeaving) return;
    clearTimeout(this.#timer);
    this.#endAttempts(this.#proven);
    if (this.#attempts.size > 0) this.#connectIn(ACCEPT_MS);
  }

  #take(message: GatewayMessage, session: Session): void {
    if (message.t === 'leave') {
      this.#options.log.info({ withinMs: message.withinMs }, 'gateway stops: connecting again');
      this.#isLeaving = true;
      return this.#connectIn(Math.random() * message.withinMs);
    }
    if (message.t !== 'welcome') return this.#options.onMessage(message, session);
    if (!this.#attempts.delete(session)) return session.terminate();
    this.#welcomed(message, session);
  }

  #welcomed(message: GatewayWelcome, session: Session): void {
    const { identity, log, onReady } = this.#options;
    const [before, wasSilent] = [this.#current, this.#isSilent];
    this.#current = session;
    this.#endAttempts();
    clearTimeout(this.#timer);
    [this.#isLeaving, this.#isSilent, this.#outage] = [false, false, beginOutage()];
    if (message.returnOverMs !== undefined) this.#options.reconnect.spreadOver(message.returnOverMs);
    clearTimeout(this.#proving);
    this.#proving = setTimeout(this.#options.reconnect.succeeded, PROVED_MS);
    void identity.confirmed().catch((error: unknown) => log.error({ err: error }, 'key could not be stored'));
    log.info({ state: message.state }, 'connected to the gateway');
    this.#events.emit('ready');
    onReady(session, message);
    // A responsive gateway still acknowledges the messages already sent before it closes.
    if (wasSilent) before?.terminate();
    else before?.close();
  }

  #closed(end: Closed, session: Session): void {
    const wasAttempt = this.#attempts.delete(session);
    const wasCurrent = session === this.#current;
    if (wasCurrent) {
      this.#current = undefined;
      clearTimeout(this.#proving);
    }
    this.#options.onLost(session, end);
    if (this.#isStopped || !(wasAttempt || wasCurrent) || !this.#isNeeded()) return;
    this.#outage.failures += 1;
    const context = { ...this.#options, ...this.#outage };
    // Another attempt is under way, so no further one is scheduled: on a path that loses packets, attempts overlap.
    if (this.#attempts.size > 0) return this.#current === undefined ? reportFailure(end, context) : undefined;
    clearTimeout(this.#timer);
    void pauseAfter(end, context).then(
      (ms) => (ms === undefined ? this.#options.onHopeless() : this.#connectIn(ms)),
      () => this.#connectIn(this.#options.reconnect.afterFailure()),
    );
  }
}

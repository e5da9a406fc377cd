import { EventEmitter } from 'node:events';

import {
  enrolmentRefusals,
  type AgentHello,
  type AgentMessage,
  type EnrolmentRefusal,
  type GatewayMessage,
} from '@vantage/contract';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';

import { createGatewayMessageReader } from '../frames/validate.ts';
import { createReconnect } from './reconnect.ts';
import { openSession, type AgentIdentity, type Closed, type Session } from './session.ts';

/** Connects to any gateway of the service, one connection at a time. */
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
  readonly hello: Pick<AgentHello, 'instance' | 'release' | 'credit'>;
  /** Called with each new connection that the gateway accepted. */
  readonly onReady: (session: Session, state: 'approved' | 'waiting') => void;
  readonly onMessage: (message: GatewayMessage, session: Session) => void;
  /** Called when a connection has ended: unanswered messages on it are lost. */
  readonly onLost: (session: Session) => void;
  /** Called when only another token or process can help. */
  readonly onHopeless: () => void;
  readonly log: Logger;
}

/** Concurrent attempts: one may hang at a stalled gateway; the first success wins. */
const MOST_ATTEMPTS = 4;
/** Time for a gateway to accept the proof. */
const ACCEPT_MS = 10_000;
/** A connection that lasted this long counts as a success. */
const PROVED_MS = 10_000;
/** An outage may last for hours. */
const LOG_EVERY = 20;

export function createGatewayLink(options: LinkOptions): GatewayLink {
  const { dial, identity, hello, onReady, onMessage, onLost, onHopeless, log } = options;
  const read = createGatewayMessageReader();
  const reconnect = createReconnect();
  const events = new EventEmitter();
  let current: Session | undefined;
  /** Candidates for the current session. */
  const attempts = new Set<Session>();
  /** The candidate that was asked for its proof. A gateway that accepts it has the current session closed. */
  let proven: Session | undefined;
  let timer: NodeJS.Timeout | undefined;
  let proving: NodeJS.Timeout | undefined;
  let isStopped = false;
  /** While the current gateway stops or is silent, attempts to find another one are repeated. */
  let [isLeaving, isSilent] = [false, false];
  let failures = 0;

  const connect = (): void => {
    // The gateway may have replied meanwhile.
    if (isStopped || (current !== undefined && !isLeaving && !isSilent)) return;
    if (attempts.size < MOST_ATTEMPTS) {
      const events = { onChallenged: challenged, onSilence: heard, onMessage: take, onClosed: closed };
      attempts.add(openSession({ socket: dial(), identity, hello, read, ...events }));
    }
    connectIn(reconnect.beforeAnother());
  };
  const connectIn = (ms: number): void => {
    if (isStopped) return;
    clearTimeout(timer);
    timer = setTimeout(connect, ms);
  };

  const endAttempts = (except?: Session): void => {
    for (const attempt of attempts) {
      if (attempt === except) continue;
      attempts.delete(attempt);
      attempt.terminate();
    }
  };

  /** One proof at a time: otherwise gateways might see the newer counter first. */
  const challenged = (session: Session): void => {
    proven = session;
    endAttempts(session);
    connectIn(ACCEPT_MS);
  };

  const heard = (nowSilent: boolean, session: Session): void => {
    if (session !== current) return;
    isSilent = nowSilent;
    if (isSilent) {
      log.warn('the gateway does not answer: looking for another one');
      return connectIn(reconnect.afterSilence());
    }
    if (isLeaving) return;
    clearTimeout(timer);
    endAttempts(proven);
    if (attempts.size > 0) connectIn(ACCEPT_MS);
  };

  const take = (message: GatewayMessage, session: Session): void => {
    if (message.t === 'leave') {
      log.info({ withinMs: message.withinMs }, 'gateway stops: connecting again');
      isLeaving = true;
      return connectIn(Math.random() * message.withinMs);
    }
    if (message.t !== 'welcome') return onMessage(message, session);
    if (!attempts.delete(session)) return session.terminate();
    const [before, wasSilent] = [current, isSilent];
    current = session;
    endAttempts();
    clearTimeout(timer);
    [isLeaving, isSilent] = [false, false];
    failures = 0;
    if (message.returnOverMs !== undefined) reconnect.spreadOver(message.returnOverMs);
    clearTimeout(proving);
    proving = setTimeout(reconnect.succeeded, PROVED_MS);
    void identity.confirmed().catch((error: unknown) => log.error({ err: error }, 'key could not be stored'));
    log.info({ state: message.state }, 'connected to the gateway');
    events.emit('ready');
    onReady(session, message.state);
    // A responsive gateway still acknowledges what was sent, and then closes.
    if (wasSilent) before?.terminate();
    else before?.close();
  };

  const closed = (end: Closed, session: Session): void => {
    const wasAttempt = attempts.delete(session);
    const wasCurrent = session === current;
    if (wasCurrent) {
      current = undefined;
      clearTimeout(proving);
    }
    onLost(session);
    if (isStopped || !(wasAttempt || wasCurrent) || attempts.size > 0) return;
    // A candidate that is no longer needed.
    if (current !== undefined && !isLeaving && !isSilent) return;
    clearTimeout(timer);
    void pauseAfter(end).then(
      (ms) => (ms === undefined ? onHopeless() : connectIn(ms)),
      () => connectIn(reconnect.afterFailure()),
    );
  };

  const pauseAfter = async ({ code, reason, error }: Closed): Promise<number | undefined> => {
    failures += 1;
    if (code === 4401 && Object.hasOwn(enrolmentRefusals, reason)) {
      const then = await identity.refused(reason as EnrolmentRefusal);
      if (then === 'end') return undefined;
      return then === 'retry' ? reconnect.afterFailure() : reconnect.afterRefusal();
    }
    const fields = { code, reason, err: error };
    if (code === 4403 || code === 4406 || code === 4409) {
      log.error(fields, 'gateway closed the connection');
      return reconnect.afterRefusal();
    }
    if (failures % LOG_EVERY === 1) log.warn(fields, 'no connection to the gateway: connecting again');
    return reconnect.afterFailure();
  };

  return {
    start: connect,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
      clearTimeout(proving);
      current?.close();
      endAttempts();
    },
    session: () => current,
    send: (message) => current?.send(message),
    watched: {
      get status() {
        return current === undefined ? 'connecting' : 'ready';
      },
      on: (event, listener) => events.on(event, listener),
    },
  };
}

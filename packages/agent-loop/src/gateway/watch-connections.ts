import type { GatewayWelcome } from '@vantage/contract';

import { createLosses, type Losses } from '../losses.ts';
import type { RunningJobs } from '../running-jobs.ts';
import type { Closed, Session } from './session.ts';

export interface ConnectionWatch {
  readonly welcomed: (session: Session, welcome: GatewayWelcome) => void;
  /** To be called when a session, or an attempt at one, has ended. */
  readonly ended: (session: Session, end: Closed) => void;
  /** Why the connection counts as unstable; undefined if it does not. */
  readonly instability: Losses['reason'];
}

export interface WatchedParts {
  readonly withdraw: RunningJobs['withdraw'];
  /** The session for messages; undefined while disconnected. */
  readonly session: () => Session | undefined;
  readonly onEnded: (session: Session) => void;
  readonly losses?: Losses;
}

/**
 * Code of a connection that ended without a close frame (RFC 6455 section 7.1.5); a gateway that stops or refuses the
 * agent sends one.
 */
const WITHOUT_CLOSE_FRAME = 1_006;
/** Refusals of an agent whose probe was suspended or removed, or is another agent's now. */
const REFUSED_PROBE = /^(suspended|unknown-probe|unknown-key)$/;

/** Counts connections that were of use and broke off, and ends the jobs of a probe that was suspended or removed. */
export function watchConnections({
  withdraw,
  session: current,
  onEnded,
  losses = createLosses('the gateways'),
}: WatchedParts): ConnectionWatch {
  const used = new WeakSet<Session>();
  let known: number | undefined;
  return {
    welcomed: (session, { suspensions = known }) => {
      used.add(session);
      losses.restored();
      // The probe was suspended and resumed while this agent was not connected.
      if (known !== undefined && suspensions !== known) withdraw();
      known = suspensions;
    },
    ended: (session, { code, reason }) => {
      if (code === WITHOUT_CLOSE_FRAME && used.has(session)) losses.note();
      // Another session has taken the place of this one.
      if (current() !== undefined) losses.restored();
      onEnded(session);
      if (code === 4403 || (code === 4401 && REFUSED_PROBE.test(reason))) withdraw();
    },
    instability: losses.reason,
  };
}

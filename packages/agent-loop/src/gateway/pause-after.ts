import { enrolmentRefusals, type EnrolmentRefusal } from '@vantage/contract';
import type { Logger } from 'pino';

import type { Reconnect } from './reconnect.ts';
import type { AgentIdentity, Closed } from './session.ts';

interface Context {
  readonly identity: AgentIdentity;
  readonly reconnect: Reconnect;
  readonly log: Logger;
  /** Number of failures in succession, including this one. */
  readonly failures: number;
}

/** Number of failures per log line: an outage may last for hours. */
const LOG_EVERY = 20;

const OTHER_AGENT =
  'another agent with the key of this state folder is connected; this one works again within a minute of its end: ' +
  'stop one of them, or invite it as another probe with another VANTAGE_STATE_FOLDER';

/** @returns milliseconds until the next attempt to connect; undefined if only another token or process can help */
export async function pauseAfter(
  { code, reason, error }: Closed,
  { identity, reconnect, log, failures }: Context,
): Promise<number | undefined> {
  if (code === 4401 && Object.hasOwn(enrolmentRefusals, reason)) {
    const then = await identity.refused(reason as EnrolmentRefusal);
    if (then === 'end') return undefined;
    if (then === 'retry') return reconnect.afterFailure();
    return reason === 'unknown-probe' || reason === 'unknown-key'
      ? reconnect.afterUnknownKey()
      : reconnect.afterRefusal();
  }
  const fields = { code, reason, err: error };
  if (code === 4409) {
    if (failures % LOG_EVERY === 1) log.error(fields, OTHER_AGENT);
    return reconnect.afterRefusal();
  }
  if (code === 4403 || code === 4406) {
    log.error(fields, 'gateway closed the connection');
    return reconnect.afterRefusal();
  }
  reportFailure({ code, reason, error }, { log, failures });
  return reconnect.afterFailure();
}

/** Logs why there is no connection, not with each attempt. */
export function reportFailure(
  { code, reason, error }: Closed,
  { log, failures }: Pick<Context, 'log' | 'failures'>,
): void {
  if (failures % LOG_EVERY !== 1) return;
  log.warn({ code, reason, err: error }, 'no connection to the gateway: connecting again');
}

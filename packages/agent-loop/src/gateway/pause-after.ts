import { enrolmentRefusals, gatewayCloseCodes, RESUMED, type EnrolmentRefusal } from '@vantage/contract';
import type { Logger } from 'pino';

import type { Reconnect } from './reconnect.ts';
import type { AgentIdentity, Closed } from './session.ts';

/** What has happened since the last connection. */
export interface Outage {
  /** Number of failures in succession. */
  failures: number;
  /** Reasons that were logged. */
  readonly logged: Set<string>;
}

interface Context extends Readonly<Outage> {
  readonly identity: AgentIdentity;
  readonly reconnect: Reconnect;
  readonly log: Logger;
}

/** Number of failures per log line: an outage may last for hours. */
const LOG_EVERY = 20;
/** Number of different reasons that are logged at once. */
const MOST_REASONS = 8;

const OTHER_AGENT =
  'another agent with the key of this state folder is connected; this one works again within a minute of its end: ' +
  'stop one of them, or invite it as another probe with another VANTAGE_STATE_FOLDER';

export function beginOutage(): Outage {
  return { failures: 0, logged: new Set() };
}

/** @returns milliseconds until the next attempt to connect; undefined if only another token or process can help */
export async function pauseAfter(
  { code, reason, error }: Closed,
  { identity, reconnect, log, failures, logged }: Context,
): Promise<number | undefined> {
  if (code === 4401 && Object.hasOwn(enrolmentRefusals, reason)) {
    const then = await identity.refused(reason as EnrolmentRefusal);
    if (then === 'end') return undefined;
    if (then === 'retry') return reconnect.afterFailure();
    return reason === 'unknown-probe' || reason === 'unknown-key'
      ? reconnect.afterUnknownKey()
      : reconnect.afterRefusal();
  }
  if (code === 4403 && reason === RESUMED) return reconnect.afterFailure();
  const fields = { code, reason, err: error };
  if (code === 4409) {
    if (failures % LOG_EVERY === 1) log.error(fields, OTHER_AGENT);
    return reconnect.afterRefusal();
  }
  if (code === 4403 || code === 4406) {
    log.error(fields, gatewayCloseCodes[code]);
    return reconnect.afterRefusal();
  }
  reportFailure({ code, reason, error }, { log, failures, logged });
  return reconnect.afterFailure();
}

/**
 * Logs why there is no connection: each of the first `MOST_REASONS` different reasons at once, repeated and further
 * ones once in `LOG_EVERY` failures.
 */
export function reportFailure(
  { code, reason, error }: Closed,
  { log, failures, logged }: Pick<Context, 'log' | 'failures' | 'logged'>,
): void {
  const text = `${code} ${reason} ${error?.message ?? ''}`;
  const isNew = !logged.has(text) && logged.size < MOST_REASONS;
  if (!isNew && failures % LOG_EVERY !== 1) return;
  logged.add(text);
  log.warn({ code, reason, err: error }, 'no connection to the gateway: connecting again');
}

import { HEARTBEAT_EVERY_MS, type Heartbeat } from '@vantage/contract';
import type { Logger } from 'pino';

export interface HeartbeatParts {
  /** Changes with every start of the agent. */
  readonly instance: string;
  /** Everything that may change from beat to beat. */
  readonly describe: () => Omit<Heartbeat, 'v' | 'instance' | 'degraded'> & { readonly degraded: readonly string[] };
  /** Writes it, expiring, and answers with the one that it replaced. */
  readonly write: (json: string) => Promise<string | null>;
  readonly remove: () => Promise<unknown>;
  readonly isReady: () => boolean;
  readonly log: Logger;
}

export interface HeartbeatWriter {
  /** Writes one and then one every two seconds. */
  readonly start: () => void;
  /** Writes one out of turn. Never rejects. */
  readonly beat: () => Promise<void>;
  /** Stops and removes the last: the probe is offline at once. Never rejects. */
  readonly stop: () => Promise<void>;
}

const MAX_REASONS = 16;
const MAX_REASON = 256;
const TWIN = 'Another agent runs under the same identifier: each takes the jobs of the other for leftovers.';

export function createHeartbeat(parts: HeartbeatParts): HeartbeatWriter {
  const { instance, describe, write, remove, isReady, log } = parts;
  let timer: NodeJS.Timeout | undefined;
  let underWay = false;
  let stopped = false;
  let wasWritten = false;
  let hasTwin = false;

  const beat = async (): Promise<void> => {
    if (underWay || stopped || !isReady()) return;
    underWay = true;
    try {
      const { degraded, ...rest } = describe();
      const reasons = hasTwin ? [TWIN, ...degraded] : degraded;
      const replaced = await write(
        JSON.stringify({
          v: 1,
          instance,
          ...rest,
          degraded: reasons.slice(0, MAX_REASONS).map((reason) => reason.slice(0, MAX_REASON)),
        } satisfies Heartbeat),
      );
      // The first replaces what an earlier agent left behind; later ones should replace our own.
      const foreign = wasWritten && replaced !== null && instanceOf(replaced) !== instance;
      if (foreign && !hasTwin) log.error(TWIN);
      hasTwin = foreign;
      wasWritten = true;
    } catch (error) {
      log.debug({ err: error }, 'heartbeat write failed');
    } finally {
      underWay = false;
    }
  };

  return {
    start: () => {
      timer ??= setInterval(() => void beat(), HEARTBEAT_EVERY_MS);
      void beat();
    },
    beat,
    stop: async () => {
      clearInterval(timer);
      stopped = true;
      if (isReady()) await remove().catch(() => undefined);
    },
  };
}

function instanceOf(json: string): unknown {
  try {
    return (JSON.parse(json) as { readonly instance?: unknown } | null)?.instance;
  } catch {
    return undefined;
  }
}

import { HEARTBEAT_EVERY_MS, type Heartbeat } from '@vantage/contract';
import type { Logger } from 'pino';

export interface HeartbeatParts {
  /** Changes with every start of the agent. */
  readonly instance: string;
  /** Everything that may change between heartbeats. */
  readonly describe: () => Described;
  /**
   * Writes the heartbeat with a lifetime; resolves with the one that it replaced, or null.
   *
   * @param isNews true if coordinators must be notified at once
   */
  readonly write: (json: string, isNews: boolean) => Promise<string | null>;
  /** Removes the heartbeat, and notifies the coordinators. */
  readonly remove: () => Promise<unknown>;
  readonly isReady: () => boolean;
  readonly log: Logger;
}

type Described = Omit<Heartbeat, 'v' | 'instance' | 'degraded' | 'announced'> & {
  readonly degraded: readonly string[];
};

export interface HeartbeatWriter {
  /**
   * Writes a heartbeat now, then when a poll finds a change, and every `HEARTBEAT_EVERY_MS` without one. A change of
   * the running and taken jobs alone is written `LOAD_EVERY_MS` after the last heartbeat, not earlier.
   */
  readonly start: () => void;
  /** Writes and announces one now, unless stopped, Redis is not ready, or a write is under way. Never rejects. */
  readonly beat: () => Promise<void>;
  /** Stops, and removes the heartbeat if Redis is ready. Never rejects. */
  readonly stop: () => Promise<void>;
}

/** Interval at which changes are detected, which needs no Redis command. */
const POLL_INTERVAL_MS = 1_000;
/** Timers are inexact: a write that is due within half an interval counts as due. */
const EARLY_MS = POLL_INTERVAL_MS / 2;
/** Minimum interval if only the running and taken jobs have changed, as they do constantly. */
const LOAD_EVERY_MS = 2_000;
/** Time for which another agent is reported after its heartbeat was found in place of this one's. */
const TWIN_FOR_MS = 2 * HEARTBEAT_EVERY_MS + POLL_INTERVAL_MS;

const MAX_REASONS = 16;
const MAX_REASON = 256;
const TWIN = 'Another agent runs under the same identifier: each takes the jobs of the other for leftovers.';

interface Written {
  readonly json: string;
  readonly news: string;
  readonly atMs: number;
}

export function createHeartbeat(parts: HeartbeatParts): HeartbeatWriter {
  const { instance, describe, write, remove, isReady, log } = parts;
  let timer: NodeJS.Timeout | undefined;
  let underWay = false;
  let stopped = false;
  let last: Written | undefined;
  let twinUntilMs = Number.NEGATIVE_INFINITY;

  const compose = (): Heartbeat => {
    const { degraded, ...rest } = describe();
    const reasons = shorten(performance.now() < twinUntilMs ? [TWIN, ...degraded] : degraded);
    return { v: 1, instance, ...rest, announced: true, degraded: reasons };
  };

  const noteReplaced = (replaced: string | null): void => {
    // The first heartbeat may replace that of an earlier agent; later ones should replace those of this agent.
    if (last === undefined || replaced === null || instanceOf(replaced) === instance) return;
    const nowMs = performance.now();
    if (nowMs >= twinUntilMs) log.error(TWIN);
    twinUntilMs = nowMs + TWIN_FOR_MS;
  };

  const put = async (heartbeat: Heartbeat, isNews: boolean): Promise<void> => {
    if (underWay || stopped || !isReady()) return;
    underWay = true;
    try {
      const json = JSON.stringify(heartbeat);
      noteReplaced(await write(json, isNews));
      last = { json, news: newsOf(heartbeat), atMs: performance.now() };
    } catch (error) {
      log.debug({ err: error }, 'heartbeat write failed');
    } finally {
      underWay = false;
    }
  };

  const poll = async (): Promise<void> => {
    const heartbeat = compose();
    const isNews = last === undefined || newsOf(heartbeat) !== last.news;
    const hasChanged = isNews || JSON.stringify(heartbeat) !== last?.json;
    const sinceMs = performance.now() - (last?.atMs ?? 0) + EARLY_MS;
    if (isNews || sinceMs >= (hasChanged ? LOAD_EVERY_MS : HEARTBEAT_EVERY_MS)) await put(heartbeat, isNews);
  };

  return {
    start: () => {
      timer ??= setInterval(() => void poll(), POLL_INTERVAL_MS);
      void put(compose(), true);
    },
    beat: async () => put(compose(), true),
    stop: async () => {
      clearInterval(timer);
      stopped = true;
      if (isReady()) await remove().catch(() => undefined);
    },
  };
}

function shorten(reasons: readonly string[]): string[] {
  return reasons.slice(0, MAX_REASONS).map((reason) => reason.slice(0, MAX_REASON));
}

/** The part of a heartbeat whose change coordinators must learn at once: all but the running and the taken jobs. */
function newsOf(heartbeat: Heartbeat): string {
  const { taken: _taken, load, ...rest } = heartbeat;
  return JSON.stringify({ ...rest, capacity: load.capacity });
}

function instanceOf(json: string): unknown {
  try {
    return (JSON.parse(json) as { readonly instance?: unknown } | null)?.instance;
  } catch {
    return undefined;
  }
}

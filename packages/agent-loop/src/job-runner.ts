import type { OnAbandoned } from './abandoned.ts';
import type { AgentClock } from './clock.ts';
import type { HeartbeatParts } from './heartbeat.ts';
import type { QueuedJob } from './probe-queue.ts';
import type { ResultOutlet } from './results.ts';

/** Runs the jobs of a probe. */
export interface JobRunner {
  /** Called once with the connections, before they are usable. */
  readonly watch?: ((watched: WatchedLoop) => void) | undefined;
  /**
   * Called after each connection with the address of Redis. Over a gateway it is called only if a proxy is configured,
   * with the address of the proxy or gateway.
   */
  readonly noteRedis?: ((address: string | undefined, port: number | undefined) => void) | undefined;
  /** Called once, before jobs are taken: over Redis when it is usable, over a gateway before the agent connects. */
  readonly prepare: (link: RunnerLink) => Work;
  /** Called once jobs are taken. */
  readonly started?: ((instance: string) => void) | undefined;
  readonly close: () => Promise<void>;
}

/** Dependencies of a job runner that the loop provides. */
export interface RunnerLink {
  /** The clock of Redis. */
  readonly clock: Pick<AgentClock, 'now' | 'rttMs' | 'read'>;
  readonly outlet: ResultOutlet;
  readonly onAbandoned: OnAbandoned;
}

export interface Work {
  /**
   * Runs a job and writes its results. Never rejects.
   *
   * @param interrupted aborted when the agent must stop now, or when no result is wanted any more: `isWithdrawn`
   */
  readonly run: (job: QueuedJob, id: string, interrupted: AbortSignal) => Promise<void>;
  /** True for a job that is exempt from the concurrency limit, because its runner has a separate limit. */
  readonly isExempt: (id: string) => boolean;
  readonly isCheckId: (id: string) => boolean;
  /** Fields of the heartbeat that do not depend on the state of the job loop. */
  readonly describe: () => Omit<ReturnType<HeartbeatParts['describe']>, 'load' | 'taken' | 'draining'>;
}

/** Properties of a connection that metrics observe. */
export interface WatchedConnection {
  readonly status: string;
  readonly on: (event: 'ready', listener: () => void) => unknown;
}

export interface WatchedLoop {
  readonly connections: Readonly<Record<string, WatchedConnection>>;
  readonly rttMs: () => number;
  /** Undefined until jobs are taken. */
  readonly running: () => number | undefined;
  readonly capacity: number;
}

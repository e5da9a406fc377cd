import { redisKeys, type MonitorEvent as PublicEvent } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../redis/scripts.ts';
import { claimDueScript, partingScript } from './schedule-scripts.ts';

/** A task for any coordinator. If the one that claimed it ends before the task is done, another one repeats it. */
export type OutboxTask = ChangeTask | PartingTask;

/** The tasks after a change of the state or the paths: messages to webhooks, and to read the traceroute. */
export interface ChangeTask {
  readonly kind: 'change';
  readonly monitor: string;
  /** When the change was noticed, milliseconds since the epoch. */
  readonly atMs: number;
  /** Id of the traceroute that was started; null if there is none. */
  readonly traceId: string | null;
  /** Id of the message, the same for all webhooks. */
  readonly messageId: string;
  /** `digestOf` the URL of each webhook that gets the message. */
  readonly webhooks: readonly string[];
  readonly event: PublicEvent;
  /** A change of the path at the same tick, as another message. Coordinators of earlier releases ignore it. */
  readonly further?: Readonly<{ messageId: string; event: PublicEvent }> | undefined;
}

/** The traceroute that followed a change to bad, to be read at its end (`readParting`). */
export interface PartingTask extends Pick<ChangeTask, 'monitor' | 'atMs' | 'messageId' | 'webhooks'> {
  readonly kind: 'parting';
  readonly traceId: string;
  readonly tick: number;
  readonly failing: readonly string[];
}

/** Outcome of the traceroute that followed a change to bad. */
export interface Parting {
  readonly traceId: string;
  readonly sentence: string;
}

/** Claims tasks of the outbox; a task that is not removed can be claimed again after the lease. */
export async function claimTasks(redis: Redis, limit: number, leaseMs: number): Promise<readonly string[]> {
  return (await runScript(redis, claimDueScript, [redisKeys.monitorOutbox], [limit, leaseMs])) as string[];
}

/**
 * Removes the task and, if the monitor still exists, writes the outcome of its traceroute and the event. Does nothing
 * if the task was removed before.
 */
export async function commitParting(
  redis: Redis,
  { text, name }: { readonly text: string; readonly name: string },
  parting: Parting,
  event: PublicEvent,
): Promise<void> {
  const { monitorOutbox, monitors, monitorsChanged } = redisKeys;
  const keys = [monitorOutbox, monitors, redisKeys.monitorEvents(name), redisKeys.monitorParting(name)];
  const values = [text, name, JSON.stringify(parting), JSON.stringify(event), monitorsChanged];
  await runScript(redis, partingScript, keys, values);
}

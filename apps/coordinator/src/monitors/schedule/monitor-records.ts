import { redisKeys, type MonitorEvent as PublicEvent, type StoredPathChange } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../redis/scripts.ts';
import { meaningOf, MISSED_AFTER_MS, type MonitorOwner, type StoredMonitor } from '../definition.ts';
import type { JudgedRun, RunRecord, StartedRun } from '../state/judge-run.ts';
import type { MonitorState } from '../state/monitor-state.ts';
import {
  claimDueScript,
  claimScript,
  commitScript,
  confirmScript,
  EVENTS_KEPT,
  partingScript,
  postponeScript,
} from './schedule-scripts.ts';
import { putScript, removeScript } from './definition-scripts.ts';

/** A tick that this coordinator must start. */
export interface ClaimedTick {
  readonly name: string;
  /** JSON of the `Claim` of the tick, as `confirmTick` compares it with the claim in Redis. */
  readonly claim: string;
  /** JSON of a `StoredMonitor`. */
  readonly stored: string;
}

export interface Claim {
  readonly tick: number;
  /** Id of the check, the same for every coordinator that starts it. */
  readonly checkId: string;
  /** When the tick was due, milliseconds since the epoch. */
  readonly atMs: number;
}

/** A tick that must be evaluated. */
export type OpenTick = StartedRun & { readonly budgetMs: number };

export type PutOutcome = 'same' | 'new' | 'changed' | 'file' | 'full';

/** A task for any coordinator. If the one that claimed it ends before the task is done, another one repeats it. */
export type OutboxTask = ChangeTask | PartingTask;

/** What follows from a change of the state or the paths: a traceroute, messages to webhooks. */
export interface ChangeTask {
  readonly kind: 'change';
  readonly monitor: string;
  /** When the change was noticed, milliseconds since the epoch. */
  readonly atMs: number;
  /** Id of the traceroute, the same for every coordinator that starts it; null if there is none. */
  readonly traceId: string | null;
  readonly probes: readonly string[];
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

/** A monitor read from Redis, with its JSON texts parsed. */
export interface MonitorRecord {
  readonly stored: StoredMonitor;
  readonly state: MonitorState | undefined;
  readonly nextMs: number | undefined;
  readonly parting: Parting | undefined;
}

/** A tick, or the evaluation of a monitor, that was claimed and is not done can be claimed again after this time. */
export const LEASE_MS = 4_000;

/** Longer than a message is tried again, which is 83 hours. */
const ENDED_KEPT_MS = 7 * 86_400_000;

/** A tick that no coordinator claimed in time. */
export interface MissedTick extends Omit<ClaimedTick, 'claim'> {
  /** Due time of the tick, milliseconds since the epoch in decimal digits. */
  readonly atMs: string;
}

export interface Claimed {
  readonly nowMs: number;
  readonly nextMs: number | undefined;
  readonly claimed: readonly ClaimedTick[];
  /** Missed ticks, which stay due until they are postponed. */
  readonly missed: readonly MissedTick[];
}

/**
 * Claims due ticks.
 *
 * @param ids ids for the checks of the ticks; at most as many ticks are claimed
 */
export async function claimTicks(redis: Redis, ids: readonly string[]): Promise<Claimed> {
  const { monitorsDue, monitors, monitorClaims, monitorTicks } = redisKeys;
  const keys = [monitorsDue, monitors, monitorClaims, monitorTicks];
  const reply = await runScript(redis, claimScript, keys, [LEASE_MS, MISSED_AFTER_MS, ids.length, ...ids]);
  const [now, next, claimed, missed] = reply as [string, string, string[], string[]];
  return {
    nowMs: Number(now),
    nextMs: next === '' ? undefined : Number(next),
    claimed: triplesOf(claimed).map(([name, claim, stored]) => ({ name, claim, stored })),
    missed: triplesOf(missed).map(([name, atMs, stored]) => ({ name, atMs, stored })),
  };
}

function triplesOf(flat: readonly string[]): readonly (readonly [string, string, string])[] {
  const count = Math.floor(flat.length / 3);
  return Array.from({ length: count }, (_, index) => flat.slice(3 * index, 3 * index + 3) as [string, string, string]);
}

/** Moves missed ticks to other times, milliseconds since the epoch. */
export async function postponeTicks(
  redis: Redis,
  times: readonly (readonly [missed: MissedTick, toMs: number])[],
): Promise<void> {
  const values = times.flatMap(([{ name, atMs }, toMs]) => [name, atMs, toMs]);
  if (times.length > 0) await runScript(redis, postponeScript, [redisKeys.monitorsDue], values);
}

/** @returns false if the claim is gone: the monitor was changed or removed, or another coordinator was faster */
export async function confirmTick(
  redis: Redis,
  { name, claim }: Pick<ClaimedTick, 'name' | 'claim'>,
  open: OpenTick,
  times: { readonly nextMs: number; readonly lookMs: number },
): Promise<boolean> {
  const keys = [
    redisKeys.monitorsDue,
    redisKeys.monitorClaims,
    redisKeys.monitorsOpen,
    redisKeys.monitorOpenTicks(name),
  ];
  const values = [name, claim, times.nextMs, times.lookMs, JSON.stringify(open)];
  return (await runScript(redis, confirmScript, keys, values)) === 1;
}

export async function claimOpen(redis: Redis, limit: number): Promise<readonly string[]> {
  return (await runScript(redis, claimDueScript, [redisKeys.monitorsOpen], [limit, LEASE_MS])) as string[];
}

/** Claims tasks of the outbox; a task that is not removed can be claimed again after the lease. */
export async function claimTasks(redis: Redis, limit: number, leaseMs: number): Promise<readonly string[]> {
  return (await runScript(redis, claimDueScript, [redisKeys.monitorOutbox], [limit, leaseMs])) as string[];
}

/** Events of a monitor after a given one, oldest first. */
export async function readEventsAfter(
  redis: Redis,
  name: string,
  after: string,
): Promise<readonly { readonly id: string; readonly event: PublicEvent }[]> {
  const entries = await redis.xrange(redisKeys.monitorEvents(name), `(${after}`, '+');
  return entries.map(([id, fields]) => ({ id, event: JSON.parse(fields[1]!) as PublicEvent }));
}

/** Reads the last run of a monitor; undefined before the first. */
export async function readLastRun(redis: Redis, name: string): Promise<RunRecord | undefined> {
  const text = await redis.lindex(redisKeys.monitorRuns(name), 0);
  return text === null ? undefined : (JSON.parse(text) as RunRecord);
}

/**
 * Ids of the oldest and the newest event that are kept, `0-0` if there is none, and whether older ones may have been
 * dropped.
 */
export async function readEventBounds(
  redis: Redis,
  name: string,
): Promise<{ readonly first: string; readonly last: string; readonly isTrimmed: boolean }> {
  const key = redisKeys.monitorEvents(name);
  const [oldest, newest, kept] = await Promise.all([
    redis.xrange(key, '-', '+', 'COUNT', 1),
    redis.xrevrange(key, '+', '-', 'COUNT', 1),
    redis.xlen(key),
  ]);
  return { first: oldest[0]?.[0] ?? '0-0', last: newest[0]?.[0] ?? '0-0', isTrimmed: kept >= EVENTS_KEPT };
}

/**
 * The oldest tick of a monitor that has not been evaluated, with the definition and the state before it; undefined
 * without one.
 */
export async function readOpen(
  redis: Redis,
  name: string,
): Promise<{ readonly open: string; readonly stored: string; readonly state: string } | undefined> {
  const [open, stored, state] = await Promise.all([
    redis.lindex(redisKeys.monitorOpenTicks(name), 0),
    redis.hget(redisKeys.monitors, name),
    redis.get(redisKeys.monitorState(name)),
  ]);
  return open === null || stored === null ? undefined : { open, stored, state: state ?? '' };
}

/** @returns false if another coordinator has evaluated the tick, or the monitor was changed or removed */
export async function commitRun(
  redis: Redis,
  name: string,
  before: { readonly open: string; readonly state: string },
  after: {
    readonly state: MonitorState;
    readonly run: JudgedRun['run'];
    readonly lookMs: number;
    readonly events: readonly PublicEvent[];
    readonly task: ChangeTask | undefined;
    readonly pathChange: StoredPathChange | undefined;
  },
): Promise<boolean> {
  const keys = [
    redisKeys.monitorState(name),
    redisKeys.monitorRuns(name),
    redisKeys.monitorOpenTicks(name),
    redisKeys.monitorsOpen,
    redisKeys.monitorEvents(name),
    redisKeys.monitorOutbox,
    redisKeys.monitorPaths(name),
  ];
  const { state, run, lookMs, task, pathChange, events } = after;
  const [tick, ...further] = [[state, run], [task, pathChange], events].map((group) =>
    group.map((one) => (one === undefined ? '' : JSON.stringify(one))),
  );
  const values = [name, before.open, before.state, ...tick!, lookMs, redisKeys.monitorsChanged, ...further.flat()];
  return (await runScript(redis, commitScript, keys, values)) === 'done';
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

/**
 * @param firstMs first tick, milliseconds since the epoch
 * @param inAlarmMs first tick if the alarm is on: earlier, because an alarm should not wait for a long interval
 */
export async function putMonitor(
  redis: Redis,
  name: string,
  stored: StoredMonitor,
  firstMs: number,
  most = Number.MAX_SAFE_INTEGER,
  inAlarmMs = firstMs,
): Promise<PutOutcome> {
  const text = JSON.stringify(stored);
  const known = await redis.hget(redisKeys.monitors, name);
  const isMeant = known !== null && meaningOf(JSON.parse(known) as StoredMonitor) === meaningOf(stored);
  const values = [name, text, stored.owner, firstMs, most, inAlarmMs, isMeant ? known : text];
  const outcome = (await runScript(redis, putScript, keysOf(name), values)) as PutOutcome;
  if (outcome === 'changed') await redis.publish(redisKeys.monitorsChanged, name);
  return outcome;
}

export async function removeMonitor(
  redis: Redis,
  name: string,
  owner: MonitorOwner,
): Promise<'removed' | 'absent' | 'file'> {
  const keys = [...keysOf(name), redisKeys.monitorTicks, redisKeys.monitorsEnded, redisKeys.monitorsEndedAt];
  const reply = await runScript(redis, removeScript, keys, [name, owner, ENDED_KEPT_MS]);
  const outcome = reply as 'removed' | 'absent' | 'file';
  if (outcome === 'removed') await redis.publish(redisKeys.monitorsChanged, name);
  return outcome;
}

function keysOf(name: string): readonly string[] {
  return [
    redisKeys.monitors,
    redisKeys.monitorsDue,
    redisKeys.monitorClaims,
    redisKeys.monitorsOpen,
    redisKeys.monitorOpenTicks(name),
    redisKeys.monitorState(name),
    redisKeys.monitorRuns(name),
    redisKeys.monitorEvents(name),
    redisKeys.monitorParting(name),
    redisKeys.monitorPaths(name),
  ];
}

/** All monitors by name, in alphabetical order. */
export async function readMonitors(redis: Redis): Promise<ReadonlyMap<string, MonitorRecord>> {
  const [all, due] = await Promise.all([redis.hgetall(redisKeys.monitors), readDue(redis)]);
  const names = Object.keys(all).toSorted();
  const keys = names.flatMap((name) => [redisKeys.monitorState(name), redisKeys.monitorParting(name)]);
  const texts = keys.length === 0 ? [] : await redis.mget(keys);
  return new Map(
    names.map((name, index) => [
      name,
      toRecord(all[name]!, texts[2 * index] ?? null, texts[2 * index + 1] ?? null, due.get(name)),
    ]),
  );
}

/** A monitor with its last runs and changes of the path, newest first. */
export interface WholeMonitor extends MonitorRecord {
  readonly runs: readonly RunRecord[];
  readonly pathChanges: readonly StoredPathChange[];
}

/** Reads a monitor with its last runs and changes of the path; undefined if there is no such monitor. */
export async function readMonitor(redis: Redis, name: string): Promise<WholeMonitor | undefined> {
  const [stored, state, parting, next, runs, paths] = await Promise.all([
    redis.hget(redisKeys.monitors, name),
    redis.get(redisKeys.monitorState(name)),
    redis.get(redisKeys.monitorParting(name)),
    redis.zscore(redisKeys.monitorsDue, name),
    redis.lrange(redisKeys.monitorRuns(name), 0, -1),
    redis.lrange(redisKeys.monitorPaths(name), 0, -1),
  ]);
  if (stored === null) return undefined;
  const record = toRecord(stored, state, parting, next === null ? undefined : Number(next));
  return {
    ...record,
    runs: runs.map((run) => JSON.parse(run) as RunRecord),
    pathChanges: paths.map((change) => JSON.parse(change) as StoredPathChange),
  };
}

function toRecord(
  stored: string,
  state: string | null,
  parting: string | null,
  nextMs: number | undefined,
): MonitorRecord {
  return {
    stored: JSON.parse(stored) as StoredMonitor,
    state: state === null ? undefined : (JSON.parse(state) as MonitorState),
    nextMs,
    parting: parting === null ? undefined : (JSON.parse(parting) as Parting),
  };
}

/** Times of the next ticks by monitor, milliseconds since the epoch. */
export async function readDue(redis: Redis): Promise<ReadonlyMap<string, number>> {
  const flat = await redis.zrange(redisKeys.monitorsDue, '0', '-1', 'WITHSCORES');
  const due = new Map<string, number>();
  for (let index = 0; index + 1 < flat.length; index += 2) due.set(flat[index]!, Number(flat[index + 1]));
  return due;
}

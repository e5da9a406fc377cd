import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../redis/scripts.ts';
import { MISSED_AFTER_MS } from '../definition.ts';
import type { StartedRun } from '../state/evaluate-run.ts';
import { claimScript, confirmScript, postponeScript } from './schedule-scripts.ts';

/** A tick, or the evaluation of a monitor, that was claimed and is not done can be claimed again after this time. */
export const LEASE_MS = 4_000;

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
  times: { readonly nextMs: number; readonly pollMs: number },
): Promise<boolean> {
  const keys = [
    redisKeys.monitorsDue,
    redisKeys.monitorClaims,
    redisKeys.monitorsOpen,
    redisKeys.monitorOpenTicks(name),
  ];
  const values = [name, claim, times.nextMs, times.pollMs, JSON.stringify(open)];
  return (await runScript(redis, confirmScript, keys, values)) === 1;
}

import type { Monitor } from '@vantage/contract';

import type { Starts } from './service.ts';

export interface TickLedger {
  /** Due ticks between the first and the last run of each monitor. */
  readonly due: number;
  /** Due ticks without a check that a probe began. */
  readonly lost: number;
  /** Checks that the probe started twice or that are in no run, and ticks with more than one check. */
  readonly doubled: number;
  /** Monitors that are bad when they are read. */
  readonly alarms: number;
  /** Delays of the checks at a probe after the due times of their ticks, milliseconds. */
  readonly delaysMs: readonly number[];
  /** Longest time between two consecutive starts of one monitor, milliseconds. */
  readonly longestPauseMs: number;
  readonly notes: readonly string[];
}

/**
 * Compares the runs that clients read with the jobs that the probe started.
 *
 * @param monitors with all their runs: no monitor was changed, and there were no more runs than are kept
 * @param starts read after the monitors
 * @param everyMs interval of all of them
 * @param evaluatedMs ticks whose check began before it have a run by now, milliseconds since the epoch
 */
export function judgeTicks(
  monitors: readonly Monitor[],
  starts: Starts,
  everyMs: number,
  evaluatedMs: number,
): TickLedger {
  const begun = new Map<string, number[]>();
  for (const [id, atMs] of starts) begun.set(id, [...(begun.get(id) ?? []), atMs]);
  const notes: string[] = [];
  const known = new Set<string>();
  let [due, lost, alarms, longestPauseMs] = [0, 0, 0, 0];
  const again = [...begun].filter(([, times]) => times.length > 1);
  let doubled = again.length;
  for (const [id, times] of again) notes.push(`check ${id} began ${times.length} times`);
  const delaysMs: number[] = [];
  for (const { name, state, runs } of monitors) {
    if (state === 'bad') alarms += 1;
    const checks = Map.groupBy(runs, ({ scheduledAt }) => Date.parse(scheduledAt));
    const times = [...checks.keys()].toSorted((a, b) => a - b);
    for (let at = times[0]!; at <= times.at(-1)!; at += everyMs) {
      due += 1;
      const ids = [...new Set((checks.get(at) ?? []).flatMap(({ checkId }) => checkId ?? []))];
      const isBegun = ids.some((id) => begun.has(id));
      if (!isBegun) notes.push(`${name}: no check at ${new Date(at).toISOString()}`);
      if (!isBegun) lost += 1;
      if (ids.length > 1) notes.push(`${name}: ${ids.length} checks at ${new Date(at).toISOString()}`);
      if (ids.length > 1) doubled += 1;
      for (const id of ids) known.add(id);
      delaysMs.push(...ids.flatMap((id) => begun.get(id) ?? []).map((startMs) => startMs - at));
    }
    const own = runs.flatMap(({ checkId }) => begun.get(checkId ?? '') ?? []).toSorted((a, b) => a - b);
    for (const [index, at] of own.entries()) longestPauseMs = Math.max(longestPauseMs, at - (own[index - 1] ?? at));
  }
  const unknown = [...begun].flatMap(([id, [at = 0]]) => (known.has(id) || at > evaluatedMs ? [] : [id]));
  for (const id of unknown) notes.push(`check ${id} is in no run`);
  return { due, lost, doubled: doubled + unknown.length, alarms, delaysMs, longestPauseMs, notes };
}

import type { Monitor } from '@vantage/contract';

import type { StateChange, Starts } from './service.ts';

/** Observations of a trial. `starts` is read last, so that it has the check of every run. */
export interface Observed {
  /** All monitors with all their runs: none was changed, and there were no more runs than are kept. */
  readonly monitors: readonly Monitor[];
  /** All changes of the states of the monitors. */
  readonly changes: readonly StateChange[];
  readonly starts: Starts;
}

export interface TickLedger {
  /** Due ticks between the first and the last run of each monitor. */
  readonly due: number;
  /** Due ticks without a check that a probe began. */
  readonly lost: number;
  /** Checks that the probe started twice or that are in no run, and ticks with more than one check. */
  readonly doubled: number;
  /** Changes of monitors to the state `bad`, including those that are ok again. */
  readonly alarms: number;
  /** Delays of the checks at a probe after the due times of their ticks, milliseconds. */
  readonly delaysMs: readonly number[];
  /** Longest time between two consecutive starts of one monitor, milliseconds. */
  readonly longestPauseMs: number;
  readonly notes: readonly string[];
}

/**
 * Compares the runs that clients read with the jobs that the probe started, and counts alarms.
 *
 * @param everyMs interval of all monitors
 * @param evaluatedMs milliseconds since the epoch; each check that began before this time must be in a run
 * @throws for a monitor without a change of its state: its first run changes it from unknown
 */
export function verifyTicks({ monitors, changes, starts }: Observed, everyMs: number, evaluatedMs: number): TickLedger {
  const begun = new Map<string, number[]>();
  for (const [id, atMs] of starts) begun.set(id, [...(begun.get(id) ?? []), atMs]);
  const notes: string[] = [];
  const known = new Set<string>();
  let [due, lost, longestPauseMs] = [0, 0, 0];
  const again = [...begun].filter(([, times]) => times.length > 1);
  let doubled = again.length;
  for (const [id, times] of again) notes.push(`check ${id} began ${times.length} times`);
  const delaysMs: number[] = [];
  const changed = new Set(changes.map(({ monitor }) => monitor));
  const alarms = changes.filter(({ to }) => to === 'bad');
  for (const { monitor } of alarms) notes.push(`${monitor} turned bad`);
  for (const { name, runs } of monitors) {
    if (!changed.has(name)) throw new Error(`The changes of ${name} are missing.`);
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
  return { due, lost, doubled: doubled + unknown.length, alarms: alarms.length, delaysMs, longestPauseMs, notes };
}

import type { Probe, Probes } from '@vantage/contract';

import { columnsOf, type Column } from '../check/columns.ts';
import type { CheckData, Result } from '../check/use-check.ts';
import { compareNames, countryName } from '../format.ts';
import { wordOf } from '../words.ts';
import type { Order, ViewState } from './view-state.ts';

/** A probe with its result. */
export type Row = readonly [id: string, result: Result];

/** The rows of a check that a view shows, in its order. */
export function rowsOf(check: CheckData, probes: Probes, view: ViewState): readonly Row[] {
  const words = view.words.toLowerCase().split(/[\s,]+/);
  const rows = Object.entries(check.results).filter(([id, result]) => {
    if (view.outcome !== '' && outcomeOf(check.type, result) !== view.outcome) return false;
    if (view.words.trim() === '') return true;
    const text = textOf(id, probeOf(probes, id), check.type, result);
    return words.every((word) => text.includes(word));
  });
  const columns = columnsOf(check.type);
  // Rows that change places while results arrive cannot be read, so they are sorted by name until the check is
  // completed.
  if (view.order === undefined && check.status !== 'completed') return sortRows(rows, columns, byName);
  return sortRows(rows, columns, view.order ?? failuresFirst);
}

const byName: Order = { key: 'probe', isDown: false };
const failuresFirst: Order = { key: 'result', isDown: false };

/** Outcome in the words of the table, such as `Connection refused`. */
export function outcomeOf(type: string, result: Result): string {
  return columnsOf(type)[0]!.text(result);
}

/** Outcomes with their rows, failures first. */
export function outcomesOf(check: CheckData): readonly (readonly [outcome: string, rows: readonly Row[]])[] {
  const rows = sortRows(Object.entries(check.results), columnsOf(check.type), failuresFirst);
  return [...Map.groupBy(rows, ([, result]) => outcomeOf(check.type, result))];
}

export function probeOf(probes: Probes, id: string): Probe | undefined {
  return Object.hasOwn(probes, id) ? probes[id] : undefined;
}

/** All texts by which a probe and its result can be found. */
function textOf(id: string, probe: Probe | undefined, type: string, result: Result): string {
  const about =
    probe === undefined
      ? []
      : [probe.name, probe.datacenter, probe.city, probe.countryCode, countryName(probe.countryCode)].concat(
          [probe.isp, probe.asNumber],
          probe.tags,
        );
  const found = [outcomeOf(type, result), wordOf(result.result), result.error?.code, result.resolvedIp];
  return [id, ...about, ...found].join('\n').toLowerCase();
}

/** Sorts rows by a column. Those without a value come last in both directions; ties are ordered by name. */
export function sortRows(rows: readonly Row[], columns: readonly Column[], order: Order): readonly Row[] {
  const sorted = rows.toSorted(([a], [b]) => compareNames(a, b));
  if (order.key === 'probe') return order.isDown ? sorted.toReversed() : sorted;
  const column = columns.find(({ key }) => key === order.key);
  if (column === undefined) return sorted;
  const sign = order.isDown ? -1 : 1;
  return sorted.toSorted(([, a], [, b]) => {
    const [x, y] = [column.sortBy(a), column.sortBy(b)];
    if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined);
    return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : compareNames(String(x), String(y)));
  });
}

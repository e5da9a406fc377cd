import type { Probes } from '@vantage/contract';

import { columnsOf } from '../check/columns.ts';
import { compareNames, countryName } from '../format.ts';
import { toneOf } from '../parts/status.ts';
import { outcomeOf, probeOf, type Row } from './rows.ts';
import type { Grouping } from './view-state.ts';

export interface Group {
  /** Empty for the only group of rows that are not grouped. */
  readonly title: string;
  readonly rows: readonly Row[];
  /** Rows that failed or timed out, but for those that say nothing about the target. */
  readonly failed: number;
}

export interface VisibleGroup extends Group {
  readonly shown: readonly Row[];
  /** Number of rows that stay hidden until the user expands the group. */
  readonly hidden: number;
}

/** A check with more rows than this is by default grouped by outcome, and at first shows some rows of each group. */
export const FEW_ROWS = 30;
/** Maximum number of rows of such a check displayed first, of all groups together. */
const ROWS_AT_FIRST = 24;
/** Maximum number of rows of such a check displayed first, of one group among several. */
const ROWS_OF_GROUP = 12;

/**
 * Groups of rows: outcomes in order of severity; others by share of failures, then size, then title. Rows keep their
 * order.
 */
export function groupRows(rows: readonly Row[], grouping: Grouping, type: string, probes: Probes): readonly Group[] {
  if (grouping === 'none') return rows.length === 0 ? [] : [groupOf('', rows)];
  const titleOf = (row: Row): string => {
    if (grouping === 'outcome') return outcomeOf(type, row[1]);
    const probe = probeOf(probes, row[0]);
    if (probe === undefined) return 'Not known';
    return grouping === 'country'
      ? (countryName(probe.countryCode) ?? probe.countryCode)
      : `${probe.asNumber} ${probe.isp}`;
  };
  const groups = [...Map.groupBy(rows, titleOf)].map(([title, members]) => groupOf(title, members));
  if (grouping === 'outcome') return groups.toSorted((a, b) => severity(a, type) - severity(b, type));
  return groups.toSorted(
    (a, b) => share(b) - share(a) || b.rows.length - a.rows.length || compareNames(a.title, b.title),
  );
}

function groupOf(title: string, rows: readonly Row[]): Group {
  const failed = rows.filter(([, result]) => ['bad', 'warn'].includes(toneOf(result)));
  return { title, rows, failed: failed.length };
}

/** Rank of the outcome of a group; failures have the lowest. */
function severity({ rows }: Group, type: string): number {
  return Number(columnsOf(type)[0]!.sortBy(rows[0]![1]));
}

function share({ failed, rows }: Group): number {
  return failed / rows.length;
}

/**
 * Chooses the rows that each group shows at first: its first ones, within a bound for all groups, and open rows.
 *
 * @param isComplete true for a group that the user wants complete
 * @param most rows that may be drawn now
 */
export function limitGroups(
  groups: readonly Group[],
  open: ReadonlySet<string>,
  isComplete: (title: string) => boolean,
  most = Infinity,
): readonly VisibleGroup[] {
  const total = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  let left = total <= FEW_ROWS ? total : ROWS_AT_FIRST;
  const ofGroup = total <= FEW_ROWS || groups.length === 1 ? left : ROWS_OF_GROUP;
  let drawable = most;
  return groups.map((group) => {
    const count = isComplete(group.title) ? group.rows.length : Math.min(ofGroup, left, group.rows.length);
    left = Math.max(0, left - count);
    const drawn = Math.min(count, drawable);
    drawable -= drawn;
    const within = (bound: number): readonly Row[] => group.rows.filter(([id], index) => index < bound || open.has(id));
    return { ...group, shown: within(drawn), hidden: group.rows.length - within(count).length };
  });
}

import type { Column } from '../check/columns.ts';
import type { Result } from '../check/use-check.ts';

export interface Order {
  /** Column key; `probe` for the probe itself. */
  readonly key: string;
  readonly isDown: boolean;
}

type Row = readonly [id: string, result: Result];

const collator = new Intl.Collator('en', { numeric: true });

/** Rows without a value come last in both directions; ties are ordered by name. */
export function sortRows(rows: readonly Row[], columns: readonly Column[], order: Order | undefined): readonly Row[] {
  const byName = rows.toSorted(([a], [b]) => collator.compare(a, b));
  if (order === undefined) return byName;
  if (order.key === 'probe') return order.isDown ? byName.toReversed() : byName;
  const column = columns.find(({ key }) => key === order.key);
  if (column === undefined) return byName;
  const sign = order.isDown ? -1 : 1;
  return byName.toSorted(([, a], [, b]) => {
    const [x, y] = [column.sortBy(a), column.sortBy(b)];
    if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined);
    return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : collator.compare(String(x), String(y)));
  });
}

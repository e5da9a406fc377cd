import type { PathComparison } from '@vantage/contract';

type Hops = readonly (readonly string[])[];

/** A row with a hop of each path; undefined for a path that has none in this row. */
export interface HopRow {
  readonly a: readonly string[] | undefined;
  readonly b: readonly string[] | undefined;
  readonly differs: boolean;
}

/** Aligns two paths in rows, so that equal hops stay in one row after an additional hop. */
export function hopRowsOf({ a, b, changes }: PathComparison): readonly HopRow[] {
  const [hopsOfA, hopsOfB]: readonly [Hops, Hops] = [a?.hops ?? [], b?.hops ?? []];
  const rows: HopRow[] = [];
  let [i, j] = [0, 0];
  const take = (countOfA: number, countOfB: number, differs: boolean): void => {
    for (let k = 0; k < Math.max(countOfA, countOfB); k += 1) {
      rows.push({
        a: k < countOfA ? hopsOfA[i + k] : undefined,
        b: k < countOfB ? hopsOfB[j + k] : undefined,
        differs,
      });
    }
    i += countOfA;
    j += countOfB;
  };
  for (const change of changes) {
    const before = change.hopA === null ? change.hopB! - 1 - j : change.hopA - 1 - i;
    take(before, before, false);
    take(change.a.length, change.b.length, true);
  }
  take(hopsOfA.length - i, hopsOfB.length - j, false);
  return rows;
}

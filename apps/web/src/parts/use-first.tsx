import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { useGrowing } from './use-growing.ts';

/** Number of rows displayed first if there are many. */
const FIRST = 12;
/** Maximum number of rows that are all displayed at first. */
const LONG = 16;
const ROWS_A_FRAME = 4;

/**
 * The first of many rows, and a button for the others; null if all rows are shown or being added.
 *
 * @param step rows added per frame
 */
export function useFirst<T>(
  rows: readonly T[],
  isAll: boolean,
  step: number = ROWS_A_FRAME,
): readonly [readonly T[], JSX.Element | null] {
  const [isWanted, setWanted] = useState(false);
  const isComplete = isAll || isWanted || rows.length <= LONG;
  const drawn = useGrowing(isComplete ? rows.length : FIRST, step);
  const shown = drawn < rows.length ? rows.slice(0, drawn) : rows;
  if (isComplete) return [shown, null];
  const button = (
    <button type="button" class="quiet rest" onClick={() => setWanted(true)}>
      Show {rows.length - FIRST} more
    </button>
  );
  return [shown, button];
}

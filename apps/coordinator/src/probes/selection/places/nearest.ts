import { placeKey } from './normalise.ts';

const MAX_DISTANCE = 3;

/**
 * The name with the fewest typing errors, the first of equals: at most one error per four letters, and no more than
 * `MAX_DISTANCE`. Undefined if none is as near.
 */
export function nearestName(term: string, names: Iterable<readonly [key: string, name: string]>): string | undefined {
  const wanted = placeKey(term);
  // One error per four letters: for short words, too many names are near.
  let limit = Math.min(MAX_DISTANCE, Math.floor(wanted.length / 4)) + 1;
  let nearest: string | undefined;
  for (const [key, name] of names) {
    if (limit <= 1) break;
    if (Math.abs(key.length - wanted.length) >= limit) continue;
    const distance = typingErrors(wanted, key, limit);
    if (distance >= limit) continue;
    limit = distance;
    nearest = name;
  }
  return nearest;
}

/** Edit distance with transpositions (optimal string alignment), capped at `limit`. */
function typingErrors(from: string, to: string, limit: number): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= to.length; column += 1) {
      const isEqual = from[line - 1] === to[column - 1];
      const isSwapped =
        line > 1 && column > 1 && from[line - 1] === to[column - 2] && from[line - 2] === to[column - 1];
      next[column] = Math.min(
        row[column]! + 1,
        next[column - 1]! + 1,
        row[column - 1]! + (isEqual ? 0 : 1),
        isSwapped ? before[column - 2]! + 1 : Infinity,
      );
    }
    if (Math.min(...next) >= limit) return limit;
    [before, row] = [row, next];
  }
  return Math.min(row[to.length]!, limit);
}

/**
 * The known word closest to a mistyped one; undefined if none is close: within one error per `lettersPerError` of its
 * letters, two at most.
 */
export function nearestWord(written: string, known: readonly string[], lettersPerError = 3): string | undefined {
  // A longer word is no typing error, and the time of the comparison grows with the product of both lengths.
  if (written.length > 64) return undefined;
  const lower = written.toLowerCase();
  const ranked = known
    .map((word) => ({ word, distance: editDistance(lower, word.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance);
  const [nearest] = ranked;
  if (nearest === undefined) return undefined;
  // In a short word, two errors could lead to any other one.
  const slips = Math.min(2, Math.floor(nearest.word.length / lettersPerError));
  return nearest.distance <= slips ? nearest.word : undefined;
}

/**
 * The allowed value closest to a wrong one, as `nearestWord`; undefined if none is close. `ipv6`, `v6` and the text
 * `6` are close to the number 6.
 */
export function nearestValue(written: unknown, allowed: readonly unknown[]): string | undefined {
  if (typeof written !== 'string' && typeof written !== 'number') return undefined;
  const words = allowed.map(String);
  const bare = String(written).replace(/^(?:ip)?v(?=\d$)/i, '');
  return words.find((word) => word === bare) ?? nearestWord(bare, words);
}

/** The least number of insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        last[j]! + 1,
        row[j - 1]! + 1,
        last[j - 1]! + cost,
        swapped ? beforeLast[j - 2]! + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

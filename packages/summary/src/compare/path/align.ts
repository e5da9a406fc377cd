import type { PathChange } from '@vantage/contract';

type Hops = readonly (readonly string[])[];

/** A path; `isWhole` if it is known to its end. An unknown end matches anything. */
interface Aligned {
  readonly hops: Hops;
  readonly isWhole: boolean;
}

/** A step of the alignment: the position of the hop in each path, null in a path that lacks it. */
interface Pair {
  readonly a: number | null;
  readonly b: number | null;
  readonly cost: number;
}

/** Cost of aligning a silent hop with one that answered: so small that it only breaks ties. */
const SILENT_COST = 0.01;

/**
 * Parts of two paths that do not match, by an alignment with the fewest differing hops. A silent hop matches any one
 * hop of the other path. Hops beyond the end of a path that is not `isWhole` do not count as differing.
 */
export function differingParts(a: Aligned, b: Aligned): readonly PathChange[] {
  const parts: Pair[][] = [];
  let isOpen = false;
  for (const pair of align(a, b)) {
    const differs = pair.cost >= 1;
    if (differs && isOpen) parts.at(-1)!.push(pair);
    else if (differs) parts.push([pair]);
    isOpen = differs;
  }
  return parts.map((part) => {
    const [ofA, ofB] = [part.flatMap((pair) => pair.a ?? []), part.flatMap((pair) => pair.b ?? [])];
    return {
      hopA: ofA.length === 0 ? null : ofA[0]! + 1,
      hopB: ofB.length === 0 ? null : ofB[0]! + 1,
      a: ofA.map((index) => [...a.hops[index]!]),
      b: ofB.map((index) => [...b.hops[index]!]),
    };
  });
}

export function shareRouter(a: readonly string[], b: readonly string[]): boolean {
  return a.some((address) => b.includes(address));
}

function align(a: Aligned, b: Aligned): readonly Pair[] {
  const [height, width] = [a.hops.length, b.hops.length];
  const costs: number[][] = [];
  for (let i = 0; i <= height; i += 1) {
    costs.push([]);
    for (let j = 0; j <= width; j += 1)
      costs[i]!.push(i + j === 0 ? 0 : Math.min(...stepsTo(i, j, a, b).map(total(costs))));
  }
  const pairs: Pair[] = [];
  for (let [i, j] = [height, width]; i + j > 0;) {
    const best = stepsTo(i, j, a, b).reduce((best, step) => (total(costs)(step) < total(costs)(best) ? step : best));
    pairs.unshift(best.pair);
    [i, j] = best.from;
  }
  return pairs;
}

interface Step {
  readonly from: readonly [number, number];
  readonly pair: Pair;
}

function total(costs: readonly (readonly number[])[]): (step: Step) => number {
  return ({ from: [i, j], pair }) => costs[i]![j]! + pair.cost;
}

/** Possible last steps of an alignment of the first `i` and `j` hops. */
function stepsTo(i: number, j: number, a: Aligned, b: Aligned): readonly Step[] {
  const gapInB = { a: i - 1, b: null, cost: j === b.hops.length && !b.isWhole ? 0 : 1 };
  const gapInA = { a: null, b: j - 1, cost: i === a.hops.length && !a.isWhole ? 0 : 1 };
  return [
    ...(i > 0 && j > 0
      ? [{ from: [i - 1, j - 1] as const, pair: { a: i - 1, b: j - 1, cost: costOf(a.hops[i - 1]!, b.hops[j - 1]!) } }]
      : []),
    ...(i > 0 ? [{ from: [i - 1, j] as const, pair: gapInB }] : []),
    ...(j > 0 ? [{ from: [i, j - 1] as const, pair: gapInA }] : []),
  ];
}

function costOf(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 && b.length === 0) return 0;
  if (a.length === 0 || b.length === 0) return SILENT_COST;
  return shareRouter(a, b) ? 0 : 1;
}

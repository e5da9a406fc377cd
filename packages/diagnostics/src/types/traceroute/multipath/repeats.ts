import { answersIn, isEnd, type Slots } from './slots/slots.ts';

/**
 * For each address that answers at two hops of one path, the later hops: two routers may share an address, or one may
 * also answer for the next hop. Behind the later hop the path continues with other routers than behind the earlier one;
 * in a routing loop it would repeat.
 */
export type Repeats = ReadonlyMap<string, ReadonlySet<number>>;

/**
 * The repeats in these slots; none if answers to one flow at one hop differ, since behind a per-packet balancer a
 * router is at several hops, too.
 */
export function repeatsIn(slots: Slots): Repeats {
  const paths = [...slots.values()].map((own) => new Map([...own].map(([ttl, slot]) => [ttl, answersIn(slot)])));
  const isSteady = (answers: readonly string[]): boolean => answers.every((answer) => answer === answers[0]);
  if (!paths.every((path) => [...path.values()].every(isSteady))) return new Map();
  const firsts = new Map<string, Set<number>>();
  const seconds = new Map<string, Set<number>>();
  for (const path of paths) {
    const seenAt = (ttl: number): string | undefined => path.get(ttl)?.[0];
    const hops = [...path.keys()].toSorted((a, b) => a - b);
    for (const [index, ttl] of hops.entries()) {
      const seen = seenAt(ttl);
      if (seen === undefined || isEnd(seen)) continue;
      const before = hops.slice(0, index).find((hop) => seenAt(hop) === seen && goesOnElsewhere(hop, ttl, seenAt));
      if (before === undefined) continue;
      noteHop(firsts, seen, before);
      noteHop(seconds, seen, ttl);
    }
  }
  return new Map(
    [...seconds].map(([seen, hops]) => [seen, new Set([...hops].filter((hop) => firsts.get(seen)?.has(hop) !== true))]),
  );
}

function goesOnElsewhere(first: number, second: number, seenAt: (ttl: number) => string | undefined): boolean {
  const [a, b] = [seenAt(first + 1), seenAt(second + 1)];
  return a !== undefined && b !== undefined && a !== b;
}

function noteHop(hops: Map<string, Set<number>>, seen: string, ttl: number): void {
  hops.set(seen, (hops.get(seen) ?? new Set()).add(ttl));
}

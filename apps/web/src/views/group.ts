/** Members that have a key in common, the largest group first, groups of one size in the order in which they came. */
export function groupBy<T>(members: readonly T[], keyOf: (member: T) => string): readonly (readonly T[])[] {
  const groups = Map.groupBy(members, keyOf);
  return [...groups.values()].toSorted((a, b) => b.length - a.length);
}

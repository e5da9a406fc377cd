/** Groups members by key, largest group first; ties keep the order of input. */
export function groupMembers<T>(members: readonly T[], keyOf: (member: T) => string): readonly (readonly T[])[] {
  const groups = Map.groupBy(members, keyOf);
  return [...groups.values()].toSorted((a, b) => b.length - a.length);
}

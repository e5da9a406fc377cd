/** Results of a pure function by a key, the last used of them. */
export interface BoundedMemo<V> {
  readonly get: (key: string, compute: () => V) => V;
}

export function boundedMemo<V>(limit: number): BoundedMemo<V> {
  const known = new Map<string, { readonly value: V }>();
  return {
    get: (key, compute) => {
      const entry = known.get(key) ?? { value: compute() };
      // A Map keeps the order of insertion: the first is the one that was not used for longest.
      known.delete(key);
      known.set(key, entry);
      const [oldest] = known.keys();
      if (known.size > limit && oldest !== undefined) known.delete(oldest);
      return entry.value;
    },
  };
}

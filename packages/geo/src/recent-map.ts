/** A bounded map that forgets what was not asked for lately: two generations, the older one dropped as the newer fills. */
export interface RecentMap<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  clear(): void;
}

/** @param capacity entries of one generation; the map holds at most twice as many */
export function createRecentMap<Key, Value>(capacity: number): RecentMap<Key, Value> {
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();

  function set(key: Key, value: Value): void {
    if (young.size >= capacity) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  }

  return {
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const aged = old.get(key);
      if (aged !== undefined) set(key, aged);
      return aged;
    },
    set,
    clear() {
      young = new Map();
      old = new Map();
    },
  };
}

/** A bounded map of recently used entries: two generations, of which the older is dropped when the newer is full. */
export interface RecentMap<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  clear(): void;
}

/** @param capacity entries per generation; the map has at most twice as many */
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

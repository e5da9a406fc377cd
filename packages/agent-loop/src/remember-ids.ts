export interface RememberedIds {
  readonly add: (id: string) => void;
  readonly has: (id: string) => boolean;
}

/**
 * Remembers each id for at least `ms` milliseconds. Ids are forgotten only when others are added: with frequent
 * additions, after at most about twice that time.
 */
export function rememberIds(ms: number): RememberedIds {
  let young = new Set<string>();
  let old = new Set<string>();
  let bornMs = performance.now();
  return {
    add: (id) => {
      if (performance.now() - bornMs > ms) {
        old = young;
        young = new Set();
        bornMs = performance.now();
      }
      young.add(id);
    },
    has: (id) => young.has(id) || old.has(id),
  };
}

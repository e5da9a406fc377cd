/** Recent ICMP errors, for a watch that begins after its packet was sent. */
export interface RecentErrors<T> {
  readonly add: (owner: string, error: T) => void;
  /** The errors about packets of an owner that arrived in the last `milliseconds`, in their order. */
  readonly since: (owner: string, milliseconds: number) => readonly T[];
}

/**
 * Errors older than this are discarded when the next one arrives: a check recalls errors soon after it has sent its
 * packet.
 */
const KEPT_MS = 10_000;
/** Limit of the number of stored errors: more of them are a flood. */
const MAX_KEPT = 256;

export function createRecentErrors<T>(now: () => number = () => performance.now()): RecentErrors<T> {
  const kept: { readonly owner: string; readonly atMs: number; readonly error: T }[] = [];
  return {
    add: (owner, error) => {
      const atMs = now();
      const fresh = kept.findIndex((one) => atMs - one.atMs <= KEPT_MS);
      kept.splice(0, fresh === -1 ? kept.length : fresh);
      if (kept.length === MAX_KEPT) kept.shift();
      kept.push({ owner, atMs, error });
    },
    since: (owner, milliseconds) => {
      const fromMs = now() - milliseconds;
      return kept.filter((one) => one.owner === owner && one.atMs >= fromMs).map(({ error }) => error);
    },
  };
}

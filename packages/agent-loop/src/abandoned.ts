/**
 * Calls back once when no client follows the check of a running job any more.
 *
 * @returns a function that ends the watch
 */
export type OnAbandoned = (id: string, listener: () => void) => () => void;

/** Few jobs are watched, each with one small read. */
const LOOK_EVERY_MS = 1_000;

/** Watches jobs in Redis, whose agents have no right to subscribe. */
export function pollAbandoned(isAbandoned: (id: string) => Promise<boolean>): OnAbandoned {
  return (id, listener) => {
    const timer = setInterval(() => {
      isAbandoned(id).then(
        (isIt) => {
          if (!isIt) return;
          clearInterval(timer);
          listener();
        },
        // Redis is unavailable: the next look may tell.
        () => undefined,
      );
    }, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  };
}

/** Watches jobs of which a gateway tells. */
export function listenAbandoned(): {
  readonly onAbandoned: OnAbandoned;
  readonly abandoned: (id: string) => void;
} {
  const listeners = new Map<string, () => void>();
  return {
    onAbandoned: (id, listener) => {
      listeners.set(id, listener);
      return () => void listeners.delete(id);
    },
    abandoned: (id) => {
      const listener = listeners.get(id);
      listeners.delete(id);
      listener?.();
    },
  };
}

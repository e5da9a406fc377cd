/**
 * Calls back once when no client follows the check of a running job any more.
 *
 * @returns a function that ends the watch
 */
export type OnAbandoned = (id: string, listener: () => void) => () => void;

/** Poll interval. Few jobs are watched, each with one small read. */
const POLL_INTERVAL_MS = 1_000;

/** Watches jobs by polling, because agents may not subscribe to channels of Redis. */
export function pollAbandoned(isAbandoned: (id: string) => Promise<boolean>): OnAbandoned {
  return (id, listener) => {
    let isOver = false;
    const stop = (): void => {
      isOver = true;
      clearInterval(timer);
    };
    const timer = setInterval(() => {
      isAbandoned(id).then(
        (isIt) => {
          // A slow reply may come after that of the next read, or after the end of the watch.
          if (!isIt || isOver) return;
          stop();
          listener();
        },
        // The next read retries.
        () => undefined,
      );
    }, POLL_INTERVAL_MS);
    return stop;
  };
}

/** Watches jobs by the messages of a gateway; `abandoned` is to be called with the id of the job of each message. */
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

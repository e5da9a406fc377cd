export interface ReceiverBounds {
  /** Maximum open requests of one receiver. */
  readonly mostOfReceiver: number;
  /**
   * A receiver whose requests are all open, without a start or an end for this long, is stuck. Also the longest time
   * for which `acquire` waits.
   */
  readonly stuckAfterMs: number;
}

/** Bounds the open requests of each receiver, so that a slow one leaves room for the messages to others. */
export interface Receivers {
  /**
   * Reserves a request to a receiver. If it has its maximum of open requests and is not stuck, waits for up to
   * `stuckAfterMs`.
   *
   * @returns false if no request became free
   */
  readonly acquire: (host: string) => Promise<boolean>;
  readonly release: (host: string) => void;
  readonly isStuck: (host: string) => boolean;
  /** Ends all waits: their `acquire` resolves to false. */
  readonly stop: () => void;
}

interface Receiver {
  open: number;
  /** Monotonic time of the last start or end of a request, milliseconds. */
  movedAt: number;
  /** Functions that end the waits, oldest first; the argument is true if a request is reserved for the caller. */
  readonly waiting: Set<(isFree: boolean) => void>;
}

export function createReceivers({ mostOfReceiver, stuckAfterMs }: ReceiverBounds): Receivers {
  const receivers = new Map<string, Receiver>();
  const isStuck = (receiver: Receiver | undefined): boolean =>
    receiver !== undefined && receiver.open >= mostOfReceiver && performance.now() - receiver.movedAt >= stuckAfterMs;

  const wait = async (receiver: Receiver): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    receiver.waiting.add(resolve);
    // A wait that has timed out must not get the reservation of a request that ends later.
    const timer = setTimeout(() => {
      receiver.waiting.delete(resolve);
      resolve(false);
    }, stuckAfterMs);
    const isFree = await promise;
    clearTimeout(timer);
    return isFree;
  };
  return {
    acquire: async (host) => {
      const receiver = receivers.get(host) ?? { open: 0, movedAt: 0, waiting: new Set() };
      receivers.set(host, receiver);
      if (receiver.open >= mostOfReceiver) return isStuck(receiver) ? false : wait(receiver);
      receiver.open += 1;
      receiver.movedAt = performance.now();
      return true;
    },
    release: (host) => {
      const receiver = receivers.get(host)!;
      receiver.movedAt = performance.now();
      const [next] = receiver.waiting;
      // The reservation passes to the next wait, so `open` stays as it is.
      if (next !== undefined) {
        receiver.waiting.delete(next);
        next(true);
        return;
      }
      receiver.open -= 1;
      if (receiver.open === 0) receivers.delete(host);
    },
    isStuck: (host) => isStuck(receivers.get(host)),
    stop: () => {
      for (const { waiting } of receivers.values()) {
        for (const end of waiting) end(false);
        waiting.clear();
      }
    },
  };
}

import type { ResultEntry } from '@vantage/contract';

/** A result, or the screenshot of a check, waiting to be written. */
export interface Entry extends ResultEntry {
  /** Milliseconds since the epoch by the clock of Redis: soon after it the result is of no use. */
  readonly deadlineAt: number;
}

export interface Outbox {
  /** Resolves when the entry was confirmed or dropped. */
  readonly add: (entry: Entry) => Promise<void>;
  /** The oldest entries that are not in flight, which are then marked so, as long as at most `window` are. */
  readonly take: (window: number) => readonly Entry[];
  readonly confirm: (entry: Entry) => void;
  readonly putBack: (entry: Entry) => void;
  /** Drops entries past their deadline that were not just sent. */
  readonly expire: (now: number) => void;
  readonly size: () => number;
}

export interface OutboxOptions {
  /** Limit of all data together. Partial results are dropped first, then screenshots, then the oldest results. */
  readonly maxBytes: number;
  readonly onDropped: (entry: Entry, reason: string) => void;
}

interface Slot {
  readonly bytes: number;
  readonly settle: () => void;
  inFlight: boolean;
}

/** A check is expired in the coordinator's sweep shortly after its deadline; its clock and ours differ by little. */
const USELESS_AFTER_MS = 5_000;

/** Queue of results that are not in Redis yet, in order of measurement; screenshots, which are large, come last. */
export function createOutbox({ maxBytes, onDropped }: OutboxOptions): Outbox {
  const slots = new Map<Entry, Slot>();
  let bytes = 0;
  let inFlight = 0;

  const remove = (entry: Entry): void => {
    const slot = slots.get(entry);
    if (slot === undefined) return;
    slots.delete(entry);
    bytes -= slot.bytes;
    if (slot.inFlight) inFlight -= 1;
    slot.settle();
  };

  const drop = (entry: Entry, reason: string): void => {
    remove(entry);
    onDropped(entry, reason);
  };

  /** Drops a partial result for which a newer one of the same check is queued. */
  const dropOvertaken = (check: string): void => {
    if (slots.size === inFlight) return;
    for (const [entry, slot] of slots) {
      if (entry.check === check && entry.kind === 'partial' && !slot.inFlight) remove(entry);
    }
  };

  const makeRoom = (): void => {
    for (const kind of ['partial', 'screenshot', 'final']) {
      for (const [entry, slot] of slots) {
        if (bytes <= maxBytes) return;
        if (entry.kind === kind && !slot.inFlight) drop(entry, 'the buffer is full');
      }
    }
  };

  return {
    add: (entry) =>
      new Promise((settle) => {
        if (entry.kind !== 'screenshot') dropOvertaken(entry.check);
        const size = Buffer.byteLength(entry.data) + (entry.png?.length ?? 0);
        slots.set(entry, { bytes: size, settle, inFlight: false });
        bytes += size;
        makeRoom();
      }),
    take: (window) => {
      const taken: Entry[] = [];
      if (slots.size === inFlight) return taken;
      for (const pictures of [false, true]) {
        for (const [entry, slot] of slots) {
          if (inFlight >= window) return taken;
          if (slot.inFlight || (entry.kind === 'screenshot') !== pictures) continue;
          slot.inFlight = true;
          inFlight += 1;
          taken.push(entry);
        }
      }
      return taken;
    },
    confirm: remove,
    putBack: (entry) => {
      const slot = slots.get(entry);
      if (slot === undefined) return;
      slot.inFlight = false;
      inFlight -= 1;
      const isOvertaken = [...slots.keys()].some(
        (other) => other !== entry && other.check === entry.check && other.kind !== 'screenshot',
      );
      if (entry.kind === 'partial' && isOvertaken) remove(entry);
    },
    expire: (now) => {
      if (slots.size === inFlight) return;
      for (const [entry, slot] of slots) {
        if (!slot.inFlight && entry.deadlineAt + USELESS_AFTER_MS < now) drop(entry, 'its deadline has passed');
      }
    },
    size: () => slots.size,
  };
}

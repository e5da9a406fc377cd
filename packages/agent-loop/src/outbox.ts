import type { ResultEntry } from '@vantage/contract';

/** A result, or the screenshot of a check, waiting to be written. */
export interface Entry extends ResultEntry {
  /** Milliseconds since the epoch by the clock of Redis: `USELESS_AFTER_MS` later the result is of no use. */
  readonly deadlineAt: number;
}

export interface Outbox {
  /** Resolves when the entry was confirmed or dropped. */
  readonly add: (entry: Entry) => Promise<void>;
  /**
   * Takes the oldest entries that are not in flight, screenshots last, and marks them as in flight, up to `window` in
   * total. At most `SCREENSHOTS_IN_FLIGHT` of those in flight are screenshots.
   */
  readonly take: (window: number) => readonly Entry[];
  readonly confirm: (entry: Entry) => void;
  readonly putBack: (entry: Entry) => void;
  /** Drops the entries that are not in flight and whose deadline was more than `USELESS_AFTER_MS` ago. */
  readonly expire: (now: number) => void;
  readonly size: () => number;
}

export interface OutboxOptions {
  /**
   * Limit of all data together. Entries in flight are kept; of the others partial results are dropped first, then
   * screenshots, then the oldest results.
   */
  readonly maxBytes: number;
  readonly onDropped: (entry: Entry, reason: string) => void;
}

interface Slot {
  readonly bytes: number;
  readonly settle: () => void;
  inFlight: boolean;
}

/**
 * Time after the deadline when a result is useless: by then the coordinator, whose clock differs little, has expired
 * the check.
 */
const USELESS_AFTER_MS = 5_000;

/**
 * Maximum screenshots in flight: more would keep results out of the window, and entries in flight neither expire nor
 * are dropped to make room.
 */
const SCREENSHOTS_IN_FLIGHT = 2;

/** Queue of results that are not in Redis yet, in order of measurement; screenshots, which are large, come last. */
export function createOutbox(options: OutboxOptions): Outbox {
  return new BoundedOutbox(options);
}

class BoundedOutbox implements Outbox {
  private readonly options: OutboxOptions;
  private readonly slots = new Map<Entry, Slot>();
  private bytes = 0;
  private inFlight = 0;
  private screenshotsInFlight = 0;

  constructor(options: OutboxOptions) {
    this.options = options;
  }

  readonly add = (entry: Entry): Promise<void> =>
    new Promise((settle) => {
      if (entry.kind !== 'screenshot') this.dropOvertaken(entry.check);
      const bytes = Buffer.byteLength(entry.data) + (entry.png?.length ?? 0);
      this.slots.set(entry, { bytes, settle, inFlight: false });
      this.bytes += bytes;
      this.makeRoom();
    });

  readonly take = (window: number): readonly Entry[] => {
    const taken: Entry[] = [];
    if (this.isAllInFlight()) return taken;
    for (const pictures of [false, true]) {
      for (const [entry, slot] of this.slots) {
        if (this.inFlight >= window) return taken;
        if (pictures && this.screenshotsInFlight >= SCREENSHOTS_IN_FLIGHT) return taken;
        if (slot.inFlight || (entry.kind === 'screenshot') !== pictures) continue;
        this.mark(entry, slot, true);
        taken.push(entry);
      }
    }
    return taken;
  };

  readonly confirm = (entry: Entry): void => this.remove(entry);

  readonly putBack = (entry: Entry): void => {
    const slot = this.slots.get(entry);
    if (slot === undefined) return;
    this.mark(entry, slot, false);
    const isOvertaken = [...this.slots.keys()].some(
      (other) => other !== entry && other.check === entry.check && other.kind !== 'screenshot',
    );
    if (entry.kind === 'partial' && isOvertaken) this.remove(entry);
  };

  readonly expire = (now: number): void => {
    if (this.isAllInFlight()) return;
    for (const [entry, slot] of this.slots) {
      if (!slot.inFlight && entry.deadlineAt + USELESS_AFTER_MS < now) this.drop(entry, 'its deadline has passed');
    }
  };

  readonly size = (): number => this.slots.size;

  private isAllInFlight(): boolean {
    return this.slots.size === this.inFlight;
  }

  private remove(entry: Entry): void {
    const slot = this.slots.get(entry);
    if (slot === undefined) return;
    this.slots.delete(entry);
    this.bytes -= slot.bytes;
    if (slot.inFlight) this.mark(entry, slot, false);
    slot.settle();
  }

  private mark({ kind }: Entry, slot: Slot, isInFlight: boolean): void {
    const change = isInFlight ? 1 : -1;
    slot.inFlight = isInFlight;
    this.inFlight += change;
    if (kind === 'screenshot') this.screenshotsInFlight += change;
  }

  private drop(entry: Entry, reason: string): void {
    this.remove(entry);
    this.options.onDropped(entry, reason);
  }

  /** Drops a partial result if a newer result of the same check is queued. */
  private dropOvertaken(check: string): void {
    if (this.isAllInFlight()) return;
    for (const [entry, slot] of this.slots) {
      if (entry.check === check && entry.kind === 'partial' && !slot.inFlight) this.remove(entry);
    }
  }

  private makeRoom(): void {
    for (const kind of ['partial', 'screenshot', 'final']) {
      for (const [entry, slot] of this.slots) {
        if (this.bytes <= this.options.maxBytes) return;
        if (entry.kind === kind && !slot.inFlight) this.drop(entry, 'the buffer is full');
      }
    }
  }
}

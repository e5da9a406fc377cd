/** A waiting request, with its client once that is known. */
export interface Waiting {
  client?: string;
}

interface Placed<T> {
  readonly item: T;
  readonly client: string;
  readonly round: number;
}

export interface FairQueueOptions<T> {
  /** Called at most once per item, and only while more wait than are taken. */
  readonly clientOf: (item: T) => string;
  /** True for an item whose client has left; such items are dropped. */
  readonly hasLeft: (item: T) => boolean;
}

/**
 * A queue that serves its clients equally: one that adds little does not wait behind one that floods. Start-time fair
 * queueing (Goyal, Vin and Cheng, SIGCOMM 1996) of items of equal cost.
 */
export class FairQueue<T extends Waiting> {
  private readonly options: FairQueueOptions<T>;
  /** Oldest first. */
  private waiting: T[] = [];
  /** Virtual time: the round of the last item taken. */
  private round = 0;
  /** Earliest round of the next item of a client, if that is later than `round`. */
  private readonly nextRounds = new Map<string, number>();

  constructor(options: FairQueueOptions<T>) {
    this.options = options;
  }

  get length(): number {
    return this.waiting.length;
  }

  add(item: T): void {
    this.waiting.push(item);
  }

  /** Removes the oldest of some items. */
  takeOldest(most: number, isWanted: (item: T) => boolean): readonly T[] {
    const taken: T[] = [];
    this.waiting = this.waiting.filter((item) => {
      if (this.options.hasLeft(item)) return false;
      if (taken.length === most || !isWanted(item)) return true;
      taken.push(item);
      return false;
    });
    return taken;
  }

  /** Removes up to `most` items, about equally many of each client. */
  take(most: number, isWanted: (item: T) => boolean = () => true): readonly T[] {
    if (this.waiting.length === 0) return [];
    const wanted = this.waiting.filter((item) => !this.options.hasLeft(item) && isWanted(item));
    const taken = wanted.length <= most ? wanted : this.takeInRounds(wanted, most);
    const isTaken = new Set(taken);
    this.waiting = this.waiting.filter((item) => !isTaken.has(item) && !this.options.hasLeft(item));
    return taken;
  }

  private takeInRounds(wanted: readonly T[], most: number): readonly T[] {
    const taken = this.byRound(wanted, most).flat().slice(0, most);
    this.round = taken[0]?.round ?? this.round;
    for (const { client, round } of taken) this.nextRounds.set(client, round + 1);
    for (const [client, round] of this.nextRounds) if (round <= this.round) this.nextRounds.delete(client);
    return taken.map(({ item }) => item);
  }

  /** The items that can be taken, by round, starting with the current one. */
  private byRound(wanted: readonly T[], most: number): readonly (readonly Placed<T>[])[] {
    const counts = new Map<string, number>();
    const rounds: Placed<T>[][] = [];
    for (const item of wanted) {
      const client = (item.client ??= this.options.clientOf(item));
      const before = counts.get(client) ?? 0;
      counts.set(client, before + 1);
      if (before >= most) continue;
      const round = Math.max(this.round, this.nextRounds.get(client) ?? 0) + before;
      (rounds[round - this.round] ??= []).push({ item, client, round });
    }
    return rounds;
  }
}

import type { Family } from '@vantage/contract';

/** Maximum of the message field: 16 bits. */
const MAX_RECALL_MS = 0xffff;

/**
 * Added to the requested time: the packet process counts it back from the arrival of the request, which may have waited
 * this long.
 */
const SLACK_MS = 1_000;

/**
 * The time to recall in a request. A watch that recalls nothing gets no slack, because another socket may have had its
 * port before.
 */
export function recallWithSlack(recallMs: number): number {
  return recallMs === 0 ? 0 : Math.min(MAX_RECALL_MS, Math.ceil(recallMs) + SLACK_MS);
}

/**
 * Times since when the packet process is known to receive the ICMP messages of each family, by the clock of this
 * process.
 */
export class ListeningTimes {
  private readonly sinceMs = new Map<Family, number>();

  /** Notes that a socket is open: from then on the packet process receives these messages until that process ends. */
  note(family: Family): void {
    if (!this.sinceMs.has(family)) this.sinceMs.set(family, performance.now());
  }

  has(family: Family): boolean {
    return this.sinceMs.has(family);
  }

  /** True if messages of the time from `fromMs` on may have arrived unread. */
  isPartial(family: Family, fromMs: number): boolean {
    return fromMs < (this.sinceMs.get(family) ?? Infinity);
  }

  clear(): void {
    this.sinceMs.clear();
  }
}

import { isCluster } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import type { ProbeEntry } from './probe-entry.ts';
import { findAny, type WantedReading } from './reading/read-probes.ts';
import { createReadingTurns, MOST_IN_ROTATION, windowOf } from './reading/reading-turns.ts';

/** Each probe is read at least once in this many refreshes, of which about one takes place per second. */
const READ_ALL_WITHIN_READINGS = 300;

/** Selects the probes that a refresh reads. */
export class DueProbes {
  readonly turns = createReadingTurns();
  /** Probes whose turn it is in the rotation that reads every probe, whatever its state. */
  private readonly inTurn = new Set<string>();
  private nextTurn = 0;
  private nextPolled = 0;

  /** The probes that the next refresh examines, in rotation, for a return or for new jobs. */
  window(ids: readonly string[]): readonly string[] {
    return windowOf(ids, this.nextPolled, MOST_IN_ROTATION);
  }

  /** Selects the probes to read, and advances the rotations. */
  async select(
    redis: Redis,
    ids: readonly string[],
    entries: ReadonlyMap<string, ProbeEntry>,
  ): Promise<readonly WantedReading[]> {
    this.chooseInTurn(ids);
    const due = new Set([...this.inTurn, ...this.turns.due(ids, (id) => entries.get(id))]);
    if (isCluster(redis)) return [...due].map((id) => ({ id, hasNoJobs: false }));
    const polled = new Set([...this.window(ids), ...due]);
    this.nextPolled = (this.nextPolled + MOST_IN_ROTATION) % Math.max(ids.length, 1);
    const settled: string[] = [];
    const silent: string[] = [];
    for (const id of polled) {
      const entry = entries.get(id);
      if (entry?.isSettled === true && entry.probe.alive) settled.push(id);
      // A heartbeat that a gateway wrote outlives the gateway, so its existence does not show that the probe is back;
      // the agent's next gateway announces that.
      if (!due.has(id) && entry?.probe.alive !== true && entry?.gateway === undefined) silent.push(id);
    }
    const [returned, withJobs] = await Promise.all([
      findAny(redis, 'heartbeat', silent),
      findAny(redis, 'jobs', settled),
    ]);
    const withoutJobs = new Set(settled);
    for (const id of withJobs) withoutJobs.delete(id);
    return [...new Set([...due, ...returned, ...withJobs])].map((id) => ({ id, hasNoJobs: withoutJobs.has(id) }));
  }

  /** True if a probe must be read even if nothing seems to have changed. */
  mustRead(id: string): boolean {
    return this.turns.hasNews(id) || this.inTurn.has(id);
  }

  /** Ends the turn of the probes that `select` chose whatever their state. */
  endTurn(): void {
    this.inTurn.clear();
  }

  /** Adds probes to `inTurn` in rotation, because announcements of changes can be lost. */
  private chooseInTurn(ids: readonly string[]): void {
    const count = Math.ceil(ids.length / READ_ALL_WITHIN_READINGS);
    for (let index = 0; index < count; index += 1) this.inTurn.add(ids[(this.nextTurn + index) % ids.length]!);
    this.nextTurn = ids.length === 0 ? 0 : (this.nextTurn + count) % ids.length;
  }
}

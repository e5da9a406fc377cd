import type { TraceLimits } from '../flow-view.ts';
import type { Trace } from '../trace-state.ts';
import { ROUND_MS, roundSchedule, type RoundPacket } from './round-schedule.ts';
import { firstLastHop, nextLastHop } from './target-hops.ts';

interface Plan extends TraceLimits {
  readonly rounds: number;
  readonly maxPackets: number;
}

/**
 * The packets of the rounds from the second on, in sending order. If the path becomes longer or shorter, the next round
 * follows it.
 */
export class DuePackets {
  private readonly trace: Trace;
  private readonly plan: Plan;
  private due: RoundPacket[];
  /** Round of the packet taken last; this class starts at round 2. */
  private round = 1;
  /** Highest TTL of the present round. */
  private last: number;

  constructor(trace: Trace, plan: Plan) {
    this.trace = trace;
    this.plan = plan;
    this.last = firstLastHop(trace.packets, plan);
    this.due = this.schedule(2);
  }

  get next(): RoundPacket | undefined {
    return this.due[0];
  }

  drop(): void {
    this.due = [];
  }

  /** Removes and returns the next packet if it is due `atMs` after the start of round 2. */
  take(atMs: number): RoundPacket | undefined {
    if (this.next === undefined || this.next.dueMs > atMs) return undefined;
    if (this.next.round !== this.round) this.follow(this.next.round);
    return this.due.shift();
  }

  private follow(round: number): void {
    this.round = round;
    const { packets } = this.trace;
    const last = round === 2 ? firstLastHop(packets, this.plan) : nextLastHop(packets, this.last, this.plan);
    if (last === this.last) return;
    this.last = last;
    this.due = this.schedule(round);
  }

  /** Packets of the rounds from `round` on, within the packet limit of the check. */
  private schedule(round: number): RoundPacket[] {
    const { firstHop, rounds, maxPackets } = this.plan;
    const left = maxPackets - this.trace.packets.filter((packet) => packet.round !== undefined).length;
    const past = round - 2;
    return roundSchedule(firstHop, this.last, rounds - past, Math.max(0, left)).map((packet) => ({
      ...packet,
      round: packet.round + past,
      dueMs: packet.dueMs + past * ROUND_MS,
    }));
  }
}

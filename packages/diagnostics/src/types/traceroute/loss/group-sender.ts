import { pause } from '@vantage/timers';

import { onceCaughtUp, probeClock } from '../../../sockets/clock/probe-clock.ts';
import type { ReceivedPacket } from '../../../sockets/packet-socket.ts';
import { parseTcp, TCP_FLAGS } from '../../../sockets/wire/transport.ts';
import { GROUP_PACKETS } from '../options/spaced-results.ts';
import { LENGTHS, type FlowAnswer } from '../probing/flow.ts';
import type { ProbeLoopPlan } from '../probing/plan.ts';
import type { TraceAnswer, TracePacket } from '../probing/trace.ts';
import type { Trace } from '../probing/trace-state.ts';
import { groupsOf, type Groups, type SpacedPacket } from './groups.ts';

/** TTL of the packets of groups: the highest `maxHops` of a trace. */
const SPACED_TTL = 64;
const POLL_INTERVAL_MS = 50;

export type SpacedFlows = Pick<ProbeLoopPlan, 'flows' | 'destination' | 'protocol' | 'caughtUp'>;
export type RepeatedPacket = TracePacket & { readonly answer: TraceAnswer | null };

interface SentPacket extends SpacedPacket {
  readonly index: number;
  /** Time from which its answer is awaited, by a clock that stops during stalls of the probe. */
  awaitedMs: number;
}

/** Sends groups of packets in one flow of a trace that has ended, and notes the answers. */
export class GroupSender {
  private readonly flows: SpacedFlows;
  private readonly asked: RepeatedPacket;
  private readonly awaitMs: number;
  private readonly signal: AbortSignal;
  private readonly first: number;
  private readonly packets: SentPacket[] = [];
  private readonly clock = probeClock(() => {
    for (const packet of this.packets) packet.isLeftOut ||= isOpen(packet);
  });
  private readonly believeSilence: (believe: () => void) => void;
  private count = 0;
  private used = 0;
  private isUnclear = false;
  private accepted = 0;
  private refused = 0;

  /** @param awaitMs how long an answer is awaited */
  constructor(trace: Trace, flows: SpacedFlows, asked: RepeatedPacket, awaitMs: number, signal: AbortSignal) {
    this.flows = flows;
    this.asked = asked;
    this.awaitMs = awaitMs;
    this.signal = signal;
    this.first = 1 + Math.max(...trace.packets.map(({ flow, index }) => (flow === asked.flow ? index : -1)));
    this.believeSilence = onceCaughtUp(this.clock, flows.caughtUp);
    const { socket } = flows.flows[asked.flow]!;
    socket.onLost(this.fail);
    socket.onPacket((received) => this.receive(received));
  }

  /** Number of packets that were sent. */
  sent(): number {
    return this.packets.length;
  }

  /** Groups that were sent; a single SYN counts as half of one. */
  groups(): number {
    return this.used;
  }

  /** The groups that may prove loss: single SYNs if the target accepts connections, else those of several packets. */
  counted(): Groups {
    const { groups, reordered } = groupsOf(this.packets);
    return { groups: groups.filter(({ length }) => (length === 1) === this.areHandshakes()), reordered };
  }

  /**
   * Number of packets of the next group. A target that accepts TCP connections, or may, gets single SYNs: while a
   * connection is half open, it may leave further SYNs unanswered.
   */
  nextSize(): number {
    return this.areHandshakes() || (this.mayAccept() && this.refused === 0) ? 1 : GROUP_PACKETS;
  }

  /**
   * True if the target accepted a connection, even if it refused another one: if a RST of the probe is lost, the next
   * answer may be a RST.
   */
  areHandshakes(): boolean {
    return this.mayAccept() && this.accepted > 0;
  }

  send(): void {
    const size = this.nextSize();
    this.used += size === 1 ? 1 / 2 : 1;
    for (let left = size; left > 0; left -= 1) this.sendOne();
    this.count += 1;
  }

  /** Reads answers that have arrived, and ends the wait for those that are overdue. */
  poll(): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.signal.removeEventListener('abort', end);
        this.settle();
        resolve();
      };
      this.signal.addEventListener('abort', end);
      if (this.signal.aborted) end();
      else this.believeSilence(end);
    });
  }

  /**
   * Resolves once no answer is awaited, or the signal aborts. False if another address than the target's refused a
   * packet, a send failed, the socket was lost, or an answer fits several packets.
   */
  async settled(): Promise<boolean> {
    while (!this.isUnclear && !this.signal.aborted && this.packets.some(isOpen)) {
      await pause(POLL_INTERVAL_MS, this.signal);
      await this.poll();
    }
    this.settle();
    this.clock.stop();
    return !this.isUnclear;
  }

  private mayAccept(): boolean {
    return this.flows.protocol === 'tcp' && this.asked.answer?.error === null;
  }

  private readonly fail = (): void => {
    this.isUnclear = true;
  };

  private sendOne(): void {
    const { clock, packets, flows } = this;
    const { socket, flow, header } = flows.flows[this.asked.flow]!;
    const index = this.first + packets.length;
    const packet: SentPacket = {
      group: this.count,
      index,
      awaitedMs: clock.now(),
      isSettled: false,
      isLeftOut: false,
    };
    packets.push(packet);
    clock.owed(socket.send(flow.packet(index), flows.destination, SPACED_TTL, header)).then((atMs) => {
      packet.sentMs = atMs;
      packet.awaitedMs = clock.now();
    }, this.fail);
  }

  private receive(received: ReceivedPacket): void {
    // Reading the clock notes a stall of the probe, which leaves out the awaited packets: this answer may have been
    // read late.
    this.clock.now();
    const match = this.flows.flows[this.asked.flow]!.flow.match(received);
    if (match === undefined) return;
    if (match.index === null && match.remainder === undefined) return this.fail();
    const packet = this.packets.find(({ index, receivedMs }) => receivedMs === undefined && isAnswerTo(match, index));
    if (packet === undefined) return;
    if (match.error !== null && received.from !== this.asked.answer?.from) return this.fail();
    packet.receivedMs = received.receivedMs;
    packet.isLeftOut = false;
    if (isSynAck(received)) this.accepted += 1;
    else this.refused += 1;
  }

  private settle(): void {
    const now = this.clock.now();
    for (const packet of this.packets) {
      const isDue = packet.sentMs !== undefined && now - packet.awaitedMs >= this.awaitMs;
      if (isDue || !isOpen(packet)) packet.isSettled = true;
    }
  }
}

function isOpen({ isSettled, receivedMs }: SpacedPacket): boolean {
  return !isSettled && receivedMs === undefined;
}

function isAnswerTo({ index, remainder }: FlowAnswer, wanted: number): boolean {
  return index === null ? remainder === wanted % LENGTHS : index === wanted;
}

function isSynAck({ protocol, data }: ReceivedPacket): boolean {
  const flags = protocol === 'tcp' ? (parseTcp(data)?.flags ?? 0) : 0;
  return (flags & TCP_FLAGS.syn) !== 0;
}

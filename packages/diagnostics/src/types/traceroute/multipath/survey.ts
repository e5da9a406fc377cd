import type { TracePacket } from '../probing/trace.ts';
import { soleAt } from './sole-vertex.ts';
import { quietIn } from './quiet.ts';
import { countChanges, isByPacket, newVertex, type Vertex } from './vertex.ts';
import { doubtedRefusals, isBarred, isUntried, unplacedAsks } from './slots/refused-slots.ts';
import { isSilentBeyond, refusedEndsOf, silenceAt, type RefusedEnd } from './slots/refused-flows.ts';
import { refusalsIn, type Barred } from './slots/refusals.ts';
import { doubtsByPacket, doubtsOf, slotsOfTests, type SilenceTest } from './doubts.ts';
import { repeatsIn, type Repeats } from './repeats.ts';
import { answersIn, isAwaited, isEnd, isRefused, SILENT, slotsOf, type Slot, type Slots } from './slots/slots.ts';

/** A packet to send. A `flow` of `Survey.flows` or more is a new flow. */
export interface Ask {
  readonly flow: number;
  readonly ttl: number;
}

export interface Survey {
  readonly slots: Slots;
  readonly flows: number;
  readonly probe: Vertex;
  readonly vertices: readonly Vertex[];
  /** Vertex of a flow at a TTL, by its answer or because all flows pass there; undefined if unknown. */
  readonly at: (flow: number, ttl: number) => Vertex | undefined;
  /** The vertex through which all flows pass at a TTL; undefined if none is known. */
  readonly sole: (ttl: number) => Vertex | undefined;
  /** The highest TTL that was probed. */
  readonly lastTtl: number;
  /** True if the flow ended before the TTL, or is refused before it. */
  readonly hasEnded: (flow: number, ttl: number) => boolean;
  /** Packets that may resolve doubts: further ones to silent and refused slots, with answered slots as controls. */
  readonly again: readonly Ask[];
  /** Packets whose loss no rate limit explains (`quietIn`). */
  readonly quiet: ReadonlySet<TracePacket>;
}

/** Derives the paths from the packets, TTL by TTL. Slots with a packet that is still awaited are left out. */
export function surveyOf(packets: readonly TracePacket[], flows: number): Survey {
  return new Surveyor(packets, flows).survey();
}

class Surveyor {
  private readonly slots: Slots;
  private readonly flows: number;
  private readonly vertices = new Map<string, Vertex>();
  private readonly probe = newVertex('probe', 'probe', 0, 0);
  private readonly located: Map<number, Vertex>[];
  /** The lowest TTL at which each flow ended. */
  private readonly endAt: number[];
  private readonly soles: (Vertex | undefined)[] = [this.probe];
  private readonly quiet: ReadonlySet<TracePacket>;
  private readonly fresh: Ask[] = [];
  private readonly tests: SilenceTest[] = [];
  private readonly answeredAfter = new Map<Vertex, readonly Slot[]>();
  private readonly refusals: ReadonlyMap<number, RefusedEnd>;
  private readonly barred: ReadonlyMap<number, Barred>;
  private readonly repeats: Repeats;
  private readonly hasEnded = (flow: number, ttl: number): boolean => (this.endAt[flow] ?? Infinity) < ttl;
  private readonly isSilent = (slot: Slot): boolean => this.outcomesOf(slot)[0] === SILENT;

  constructor(packets: readonly TracePacket[], flows: number) {
    const { packets: counted, barred, unplaced } = refusalsIn(packets);
    this.slots = slotsOf(counted);
    this.quiet = quietIn(counted);
    this.barred = barred;
    this.fresh.push(...unplacedAsks(unplaced, this.slots));
    this.refusals = refusedEndsOf(counted);
    this.repeats = repeatsIn(this.slots);
    this.flows = flows;
    this.located = Array.from({ length: flows }, () => new Map());
    this.endAt = Array<number>(flows).fill(Infinity);
  }

  survey(): Survey {
    const { slots, flows, probe, vertices, fresh, quiet } = this;
    const last = Math.max(0, ...[...slots.values()].flatMap((own) => [...own.keys()]));
    for (let ttl = 1; ttl <= last; ttl += 1) this.surveyHop(ttl);
    return {
      slots,
      flows,
      probe,
      vertices: [...vertices.values()],
      at: (flow, ttl) => this.at(flow, ttl),
      sole: (ttl) => this.soles[ttl],
      lastTtl: last,
      hasEnded: (flow, ttl) => this.hasEnded(flow, ttl) || isBarred(this.barred.get(flow), ttl),
      // The tests come first: answers to other packets would use up a rate limit.
      again: [...slotsOfTests(this.tests), ...fresh, ...doubtedRefusals(slots)],
      quiet,
    };
  }

  private at(flow: number, ttl: number): Vertex | undefined {
    // For a flow that was probed at this TTL without a clear answer, other flows do not decide the vertex.
    const isAsked = this.slots.get(flow)?.has(ttl) === true;
    return isAsked ? this.located[flow]!.get(ttl) : this.soles[ttl];
  }

  private locate(flow: number, ttl: number, vertex: Vertex): void {
    this.located[flow]!.set(ttl, vertex);
    if (vertex.kind === 'end') this.endAt[flow] = Math.min(this.endAt[flow]!, ttl);
  }

  private surveyHop(ttl: number): void {
    const asked = [...this.slots].flatMap(([flow, own]) => {
      const slot = own.get(ttl);
      if (slot === undefined || isAwaited(slot) || isSilentBeyond(slot, this.refusals)) return [];
      return isRefused(slot) ? this.noteRefused(slot) : [{ slot, parent: this.at(flow, ttl - 1) }];
    });
    const byParent = Map.groupBy(asked, ({ parent }) => parent);
    for (const [parent, own] of byParent) {
      if (parent === undefined) continue;
      const slots = own.map(({ slot }) => slot).filter((slot) => parent.kind !== 'end' || !this.isSilent(slot));
      const isElsewhere = (one: (typeof asked)[number]): boolean => one.parent !== parent && !this.isSilent(one.slot);
      const elsewhere = parent.kind === 'router' ? asked.filter(isElsewhere).map(({ slot }) => slot) : [];
      this.addLinks(parent, this.withoutDoubtful(parent, slots, elsewhere), ttl);
    }
    const strays = (byParent.get(undefined) ?? []).map(({ slot }) => slot);
    this.locateStrays(strays, ttl);
    this.soles[ttl] = soleAt(ttl, this.located, this.soles, (flow) => this.hasEnded(flow, ttl));
  }

  /** Leaves out the slots whose silence is not proved, and notes those to be probed next. */
  private withoutDoubtful(parent: Vertex, slots: readonly Slot[], elsewhere: readonly Slot[]): readonly Slot[] {
    const after = this.answeredAfter.get(parent) ?? [];
    const doubtsHere = isByPacket(parent) ? doubtsByPacket : doubtsOf;
    const { doubtful, fresh, tests } = doubtsHere(slots, this.isSilent, after, elsewhere, this.quiet);
    this.answeredAfter.set(parent, [...after, ...slots.filter((slot) => !this.isSilent(slot))]);
    this.fresh.push(...fresh);
    this.tests.push(...tests);
    return slots.filter((slot) => !doubtful.has(slot));
  }

  /** A flow that a router refuses counts as a sample of that router, but shows no next hop. */
  private noteRefused(slot: Slot): [] {
    const { flow, ttl } = slot;
    const barred = this.barred.get(flow);
    if (isUntried(slot, barred)) this.fresh.push(slot);
    const parent = this.at(flow, ttl - 1);
    if (parent !== undefined && isBarred(barred, ttl) && parent.seen.has(barred.by)) parent.samples += 1;
    return [];
  }

  private outcomesOf(slot: Slot): readonly string[] {
    const answers = answersIn(slot);
    return answers.length > 0 ? answers : [silenceAt(slot, this.refusals)];
  }

  private addLinks(parent: Vertex, slots: readonly Slot[], ttl: number): void {
    for (const slot of slots) countChanges(parent, [...answersIn(slot), ...slot.refusers]);
    const isChance = isByPacket(parent);
    const seen = new Set(slots.flatMap((slot) => this.outcomesOf(slot)));
    for (const slot of slots) {
      const outcomes = this.outcomesOf(slot);
      const vertex =
        isChance && seen.size > 1
          ? this.vertex(`~${parent.key}`, 'cloud', ttl, 0, seen)
          : this.vertexOf(outcomes[0]!, parent, ttl);
      const weight = isChance ? outcomes.length : 1;
      this.locate(slot.flow, ttl, vertex);
      parent.samples += weight;
      parent.repeats += answersIn(slot).length === 0 ? 0 : outcomes.length - 1;
      for (const one of outcomes) parent.seenNext.set(one, (parent.seenNext.get(one) ?? 0) + 1);
      if (vertex === parent) continue;
      parent.next.set(vertex, (parent.next.get(vertex) ?? 0) + weight);
      vertex.parents.add(parent);
    }
  }

  private vertexOf(seen: string, parent: Vertex, ttl: number): Vertex {
    if (seen !== SILENT) return this.placeOf(seen, ttl);
    return this.vertex(`${SILENT}${parent.key}`, 'silence', ttl, parent.silence + 1, [seen]);
  }

  private placeOf(seen: string, ttl: number): Vertex {
    const key = this.repeats.get(seen)?.has(ttl) === true ? `${seen} again` : seen;
    return this.vertex(key, isEnd(seen) ? 'end' : 'router', ttl, 0, [seen]);
  }

  private vertex(key: string, kind: Vertex['kind'], ttl: number, silence: number, seen: Iterable<string>): Vertex {
    const vertex = this.vertices.get(key) ?? newVertex(key, kind, ttl, silence);
    this.vertices.set(key, vertex);
    for (const one of seen) vertex.seen.add(one);
    return vertex;
  }

  /**
   * Places flows whose vertex at the previous TTL is unknown: here they are at the router, or the end of the path, that
   * answered. Leaves out a flow that got different answers, and one whose router a per-packet balancer may have chosen.
   */
  private locateStrays(slots: readonly Slot[], ttl: number): void {
    const clouds = [...this.vertices.values()].filter(({ kind }) => kind === 'cloud');
    for (const slot of slots) {
      const [first, ...others] = answersIn(slot);
      if (first === undefined || others.some((other) => other !== first)) continue;
      if (clouds.some(({ seen }) => seen.has(first))) continue;
      this.locate(slot.flow, ttl, this.placeOf(first, ttl));
    }
  }
}

import { earlyAsks, kindAsks } from '../kinds.ts';
import { proofAsks } from './proofs.ts';
import { needsOf } from './needs.ts';
import { asksInSilence, isBeforeSilence, isSilentEnd, withSilence } from './silence.ts';
import { stoppingPoint } from '../stopping-points.ts';
import type { Vertex } from '../vertex.ts';
import type { Ask, Survey } from '../survey.ts';

export interface Limits {
  readonly maxHops: number;
  /** Number of packets that may still be sent. */
  readonly room: number;
  /** Number of known balancers whose risks count together; 0 to search each vertex with its own risk. */
  readonly balancers: number;
}

/**
 * The packets to send with the present knowledge; the answers determine further ones. Works hop by hop: the
 * successors of the nearest vertices are found first, because this finds flows for later vertices.
 */
export function wantedAsks(survey: Survey, limits: Limits): readonly Ask[] {
  if (survey.again.length > 0) return survey.again.map(({ flow, ttl }) => ({ flow, ttl }));
  if (survey.flows === 1) {
    const early = asksInSilence(survey, limits.maxHops, (vertex) => !isSilentEnd(vertex));
    if (early.length > 0) return early;
  }
  const byTtl = Map.groupBy(
    survey.vertices.filter(({ kind, ttl }) => kind !== 'end' && ttl < limits.maxHops),
    ({ ttl }) => ttl,
  );
  for (const ttl of [...byTtl.keys()].toSorted((a, b) => a - b)) {
    const group = byTtl.get(ttl)!;
    const crossed = kindAsks(survey, group, 'crossed');
    if (crossed.length > 0) return crossed;
    const early = earlyAsks(survey, group);
    if (early.length > 0) return early;
    const asks = new GroupPlan(survey, group, limits).asks();
    if (asks.length > 0) return group.some(isBeforeSilence) ? withSilence(asks, survey, limits.maxHops) : asks;
    const proofs = group.flatMap((vertex) => proofAsks(survey, vertex));
    if (proofs.length > 0) return proofs;
  }
  return kindAsks(survey, survey.vertices, 'all');
}

/** Plans the packets to the successors of the vertices that were first seen at one hop. */
class GroupPlan {
  private readonly survey: Survey;
  private readonly group: readonly Vertex[];
  private readonly limits: Limits;
  private readonly asked: Ask[] = [];
  private readonly known = new Set<string>();
  private fresh: number;

  constructor(survey: Survey, group: readonly Vertex[], limits: Limits) {
    this.survey = survey;
    this.group = group;
    this.limits = limits;
    this.fresh = survey.flows;
  }

  asks(): readonly Ask[] {
    const counts = new Map(this.group.map((vertex) => [vertex, vertex.samples]));
    const { least, total } = needsOf(this.group, this.survey, this.limits.balancers);
    const sum = (): number => [...counts.values()].reduce((all, one) => all + one, 0);
    const short = new Set<Vertex>();
    for (;;) {
      const wanting = [...counts]
        .filter(([vertex, count]) => !short.has(vertex) && (count < least.get(vertex)! || sum() < total))
        .toSorted(([a, has], [b, hasToo]) => has - least.get(a)! - (hasToo - least.get(b)!));
      const [first] = wanting;
      if (first === undefined || this.asked.length >= this.limits.room) break;
      const [vertex] = first;
      if (this.askBeyond(vertex)) counts.set(vertex, counts.get(vertex)! + 1);
      else short.add(vertex);
    }
    const missing = [...short].map((vertex) => ({ vertex, count: least.get(vertex)! - counts.get(vertex)! }));
    this.steer(
      missing.filter(({ count }) => count > 0),
      Math.max(0, total - sum()),
    );
    return this.asked;
  }

  private ask(flow: number, ttl: number): true {
    this.asked.push({ flow, ttl });
    this.known.add(`${flow} ${ttl}`);
    return true;
  }

  private askBeyond(vertex: Vertex): boolean {
    const { survey, limits } = this;
    if (vertex.isPacketwise && this.askAgain(vertex)) return true;
    const isNew = (flow: number, ttl: number): boolean =>
      survey.slots.get(flow)?.has(ttl) !== true && !this.known.has(`${flow} ${ttl}`);
    for (let ttl = vertex.ttl; ttl < limits.maxHops && ttl < survey.lastTtl + 1; ttl += 1) {
      const isSole = survey.sole(ttl) === vertex;
      for (let flow = 0; flow < this.fresh; flow += 1) {
        if (survey.at(flow, ttl) !== vertex || !isNew(flow, ttl + 1) || survey.hasEnded(flow, ttl)) continue;
        // Only flows that were not probed at this hop can reveal a second vertex there that the others missed.
        if (isSole && survey.slots.get(flow)?.has(ttl) === true) continue;
        return this.ask(flow, ttl + 1);
      }
      if (isSole) return this.ask((this.fresh += 1) - 1, ttl + 1);
    }
    return this.askAgain(vertex);
  }

  /** Behind a per-packet balancer each packet of a flow is a separate sample. */
  private askAgain(vertex: Vertex): boolean {
    if (vertex.kind !== 'cloud' && !vertex.isPacketwise) return false;
    const slots = [...this.survey.slots.values()].flatMap((own) => [...own.values()]);
    const slot = slots.find(({ flow, ttl }) => this.survey.at(flow, ttl - 1) === vertex);
    return slot !== undefined && this.ask(slot.flow, slot.ttl);
  }

  /**
   * Sends new flows to the hop of the group, to find flows through those vertices that have too few (node control);
   * none while packets beyond the group are planned.
   */
  private steer(missing: readonly { readonly vertex: Vertex; readonly count: number }[], total: number): void {
    const { survey, group } = this;
    const wanted = missing.filter(({ vertex }) => vertex.kind === 'router');
    if (this.asked.length > 0 || (wanted.length === 0 && total === 0)) return;
    const ttl = group[0]!.ttl;
    const here = [...survey.slots.values()].filter((own) => own.has(ttl)).length;
    if (here > MOST_AT_HOP * stoppingPoint(group.length)) return;
    const count = Math.max(total, ...wanted.map((one) => Math.ceil((one.count * group.length) / STEERED_SHARE)));
    const parents = new Set(wanted.flatMap(({ vertex }) => [...vertex.parents]));
    for (const parent of parents.size > 0 ? parents : [undefined]) {
      for (let rest = Math.ceil(count / Math.max(1, parents.size)); rest > 0; rest -= 1) {
        if (parent === undefined || parent.kind === 'cloud' || !this.askThrough(parent, ttl)) {
          this.ask((this.fresh += 1) - 1, ttl);
        }
      }
    }
  }

  /** Probes a flow that is known to pass `parent`; false if there is none left. */
  private askThrough(parent: Vertex, ttl: number): boolean {
    const { survey } = this;
    for (let flow = 0; flow < survey.flows; flow += 1) {
      const isNew = survey.slots.get(flow)?.has(ttl) !== true && !this.known.has(`${flow} ${ttl}`);
      if (!isNew || survey.at(flow, ttl - 1) !== parent || survey.hasEnded(flow, ttl)) continue;
      return this.ask(flow, ttl);
    }
    return false;
  }
}

/**
 * Limit of slots per hop that are probed to find flows through one of its vertices, as a multiple of its stopping
 * point.
 */
const MOST_AT_HOP = 4;
/** Divisor of the number of packets that are needed on average: half of them are sent per batch. */
const STEERED_SHARE = 2;

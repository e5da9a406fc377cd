import { answersIn } from '../slots/slots.ts';
import { stoppingPoint } from '../stopping-points.ts';
import type { Vertex } from '../vertex.ts';
import type { Ask, Survey } from '../survey.ts';

/** Number of flows that verify a vertex through which flows are only assumed to pass. */
const PROOFS = 3;
/** Number of flows that suffice at the first hop: the probe itself chooses that hop for all flows. */
const AT_FIRST_HOP = 1;

/**
 * Probes flows at the hop of a vertex that all flows seem to pass, if they found a next hop that no flow probed at the
 * vertex has found: if the first flows missed a second vertex there, the link from this vertex does not exist.
 */
export function proofAsks({ slots, sole, at }: Survey, vertex: Vertex): readonly Ask[] {
  const { ttl, seenNext, isPacketwise, kind } = vertex;
  if (sole(ttl) !== vertex || kind !== 'router' || isPacketwise || seenNext.size < 2) return [];
  const asked = [...slots].flatMap(([flow, own]) => (own.has(ttl) ? [flow] : []));
  const found = [...slots].flatMap(([flow, own]) => {
    const slot = own.get(ttl + 1);
    return slot === undefined || at(flow, ttl) !== vertex ? [] : answersIn(slot).map((seen) => ({ flow, seen }));
  });
  const proved = new Set(found.filter(({ flow }) => asked.includes(flow)).map(({ seen }) => seen));
  const byNext = Map.groupBy(
    found.filter(({ seen }) => !proved.has(seen)),
    ({ seen }) => seen,
  );
  const further = Math.max(0, asked.length - (ttl === 1 ? AT_FIRST_HOP : stoppingPoint(1)));
  const flows = [...byNext.values()].map(([first]) => first!.flow);
  return flows.slice(0, Math.max(0, PROOFS - further)).map((flow) => ({ flow, ttl }));
}

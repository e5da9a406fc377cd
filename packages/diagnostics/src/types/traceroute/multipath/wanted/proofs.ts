import { answersIn } from '../slots.ts';
import { stoppingPoint } from '../stopping-points.ts';
import type { Vertex } from '../vertex.ts';
import type { Ask, Survey } from '../survey.ts';

/** Flows that verify a vertex through which they are only assumed to pass. */
const PROOFS = 3;
/** Flows that are probed at the first hop, which the probe chooses. */
const AT_FIRST_HOP = 1;

/**
 * Packets that probe flows at the vertex through which all seem to pass, if only these flows found a next hop: if the
 * first flows had missed a second vertex there, the link would not exist.
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

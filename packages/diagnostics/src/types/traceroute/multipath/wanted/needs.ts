import { GAP_LIMIT } from '../../probing/flow-view.ts';
import type { Vertex } from '../vertex.ts';
import { isOfTarget, SILENT } from '../slots/slots.ts';
import { RISK, RISK_OF_MANY, stoppingPoint } from '../stopping-points.ts';
import type { Survey } from '../survey.ts';

/** Number of packets to a silent vertex that only silent vertices follow. */
export const SAMPLES_IN_SILENCE = 2;
/**
 * Number of packets that show where the paths of a per-packet balancer meet again, which proves the links to that
 * vertex.
 */
export const SAMPLES_AFTER_CLOUD = 16;
/** Samples that decide whether the vertices of a hop have the same successors (phi of MDA-Lite). */
const SAMPLES_OF_EACH = 2;
/** Divisor of the risk for several vertices that seem to have the same single successor. */
const CONVERGING = 4;
/** Below this number of parallel vertices, each is probed individually: that takes hardly more packets. */
const LITE_WIDTH = 4;

/** Samples that the vertices of one hop need: `least` for each, `total` for all together. */
export interface Needs {
  readonly least: ReadonlyMap<Vertex, number>;
  readonly total: number;
}

export function needsOf(group: readonly Vertex[], survey: Survey, balancers: number): Needs {
  const mode = modeOf(group);
  const stop = (found: number, isSole = false): number =>
    stoppingPoint(Math.max(1, found), riskAt(Math.max(1, found), isSole, balancers));
  const leastOf = (vertex: Vertex): number => {
    if (isEnough(vertex)) return 0;
    if (isInSilence(vertex)) return SAMPLES_IN_SILENCE;
    if (isSilentAlone(vertex, group)) return stop(1);
    if (vertex.kind === 'cloud' && vertex.seenNext.size <= 1) return SAMPLES_AFTER_CLOUD;
    if (mode === 'full' && isMeshed(vertex, group)) return stoppingPoint(vertex.seenNext.size);
    if (mode === 'full') return stop(vertex.seenNext.size, survey.sole(vertex.ttl) === vertex);
    return mode === 'converging' ? 1 : SAMPLES_OF_EACH;
  };
  const total = totalOf(mode, group, stop, balancers);
  return { least: new Map(group.map((vertex) => [vertex, leastOf(vertex)])), total };
}

/** Samples that the vertices of a hop need together; 0 if each is probed individually. */
function totalOf(
  mode: ReturnType<typeof modeOf>,
  group: readonly Vertex[],
  stop: (found: number) => number,
  balancers: number,
): number {
  if (mode === 'full') return 0;
  if (mode === 'parallel') return stop(nextOf(group).size);
  // As a rule all vertices of a hop have the same successors: stopping too early would miss a second one at all of
  // them.
  return balancers > 0 ? stoppingPoint(1, RISK / CONVERGING) : stop(1);
}

/**
 * MDA-Lite for two or more vertices with similar successors, if none of them is complete, in silence or balanced per
 * packet. Successors are similar if all vertices share one (`converging`) or, from `LITE_WIDTH` vertices on, each has
 * its own (`parallel`). Else `full`.
 */
function modeOf(group: readonly Vertex[]): 'full' | 'converging' | 'parallel' {
  const known = group.filter(({ samples }) => samples > 0);
  const isAlike = group.every((vertex) => vertex.seenNext.size <= 1 && !vertex.isPacketwise && !isInSilence(vertex));
  if (group.length < 2 || !isAlike || group.some((vertex) => isEnough(vertex))) return 'full';
  const next = nextOf(group);
  if (next.size <= 1) return 'converging';
  return group.length >= LITE_WIDTH && next.size === known.length ? 'parallel' : 'full';
}

/**
 * Accepted probability of missing a successor of a vertex: `RISK_OF_MANY` once it has two. Before that it decreases
 * with the number of known balancers, because their risks add up. At vertices that all flows pass, it decreases from
 * the first balancer on, because further flows probe each such hop, but not below a third of `RISK`; elsewhere it
 * decreases from the second one on.
 */
function riskAt(found: number, isSole: boolean, balancers: number): number {
  if (found > 1) return RISK_OF_MANY;
  if (isSole) return RISK / Math.min(3, balancers + 1);
  return balancers > 1 ? RISK / (2 * balancers) : RISK;
}

/**
 * True if another vertex has the same successors, at least two. A further successor, which both would have, is missed
 * only if both miss it.
 */
function isMeshed(vertex: Vertex, group: readonly Vertex[]): boolean {
  const { seenNext } = vertex;
  if (seenNext.size < 2) return false;
  return group.some(
    (other) =>
      other !== vertex &&
      other.seenNext.size === seenNext.size &&
      [...seenNext.keys()].every((seen) => other.seenNext.has(seen)),
  );
}

/** True if only silence follows a vertex, while answers follow another one: with few samples this may be loss. */
function isSilentAlone({ seenNext }: Vertex, group: readonly Vertex[]): boolean {
  const isAnswered = ({ seenNext: other }: Vertex): boolean => [...other.keys()].some((seen) => seen !== SILENT);
  return seenNext.size === 1 && seenNext.has(SILENT) && group.some(isAnswered);
}

function nextOf(group: readonly Vertex[]): ReadonlySet<string> {
  return new Set(group.flatMap(({ seenNext }) => [...seenNext.keys()]));
}

/**
 * True if the silent gap is long enough, or if only the target follows a vertex that is no cloud: the last router is
 * taken to have the target on its own link. Not for a router that refuses packets: other flows may have another
 * successor.
 */
function isEnough(vertex: Vertex): boolean {
  if (vertex.silence >= GAP_LIMIT) return true;
  const next = [...vertex.seenNext.keys()];
  if (vertex.kind === 'cloud') return false;
  return next.length === 1 && isOfTarget(next[0]!);
}

/** True if only silence is known beyond a silent vertex. */
export function isInSilence({ silence, seenNext }: Vertex): boolean {
  return silence > 0 && [...seenNext.keys()].every((seen) => seen === SILENT);
}

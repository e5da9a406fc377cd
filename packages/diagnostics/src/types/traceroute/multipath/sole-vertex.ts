import { GAP_LIMIT } from '../probing/flow-view.ts';
import type { Vertex } from './vertex.ts';

type Located = readonly ReadonlyMap<number, Vertex>[];

/**
 * The vertex through which all flows pass at a TTL; undefined if none is known.
 *
 * @param located vertices of each flow by TTL
 * @param soles those of the TTLs before
 */
export function soleAt(
  ttl: number,
  located: Located,
  soles: readonly (Vertex | undefined)[],
  hasEnded: (flow: number) => boolean,
): Vertex | undefined {
  const here = new Set(located.flatMap((own) => own.get(ttl) ?? []));
  const [vertex] = here;
  if (here.size !== 1 || vertex === undefined || vertex.kind === 'end') return undefined;
  const isGone = (own: Located[number], flow: number): boolean =>
    hasEnded(flow) || isLostBefore(own, ttl, soles) || isOnShorterWay(own, ttl, vertex);
  if (located.some(isGone)) return undefined;
  if (soles[ttl - 1] !== undefined) return vertex;
  // If the previous hop has several vertices, each must be known to lead here: the flows of another may not have been
  // probed at this TTL.
  const allBefore = new Set(located.flatMap((own) => own.get(ttl - 1) ?? []));
  return [...allBefore].every((one) => vertex.parents.has(one)) ? vertex : undefined;
}

/** True for a flow that is not probed further, because it ran into a long silence that not all flows share. */
function isLostBefore(own: ReadonlyMap<number, Vertex>, ttl: number, soles: readonly (Vertex | undefined)[]): boolean {
  return [...own].some(([at, vertex]) => at < ttl && vertex.silence >= GAP_LIMIT && soles[at] !== vertex);
}

/** True for a flow that passed the vertex at a lower TTL, and is not known to be there again. */
function isOnShorterWay(own: Located[number], ttl: number, vertex: Vertex): boolean {
  return !own.has(ttl) && [...own].some(([at, one]) => at < ttl && one === vertex);
}

import { chanceOfMore } from '../../chance.ts';
import type { Trace } from '../../traceroute/trace.ts';
import { flowsAt } from './missing-flows.ts';

/**
 * A hop in both searches. `ways`: sum of the numbers of known routers in each; `asked`: number of flows that these
 * answered in each. `isOther`: both searches know routers there, but have none in common, and none is the target.
 */
interface Hop {
  readonly ways: number;
  readonly asked: readonly [ofA: number, ofB: number];
  readonly isOther: boolean;
}

/**
 * True if hops in a row of two searches for all paths have no router in common, and chance does not explain it: if
 * nothing changed, the flows of both searches were distributed over the same routers.
 *
 * @param level significance level over all such hops
 */
export function areOtherRouters(a: Trace, b: Trace, level: number): boolean {
  if (a.branching.length === 0 || b.branching.length === 0) return false;
  const last = Math.min(...[a, b].map(({ branching }) => Math.max(...branching.map(({ hop }) => hop))));
  const runs: Hop[][] = [[]];
  for (let hop = 1; hop <= last; hop += 1) {
    const one = hopOf(a, b, hop);
    if (one.isOther) runs.at(-1)!.push(one);
    else runs.push([]);
  }
  const others = runs.filter(({ length }) => length > 0);
  const flows = [a, b].map(({ probeResult }) => probeResult.result.multipath?.paths.length ?? 0);
  return others.some((run) => chanceOfRun(run, flows as [number, number]) * others.length <= level);
}

function hopOf(a: Trace, b: Trace, hop: number): Hop {
  const [ofA, ofB] = [flowsAt(a, hop), flowsAt(b, hop)];
  const [inA, inB] = [[...ofA.of.keys()], [...ofB.of.keys()]];
  const isOther = inA.length > 0 && inB.length > 0 && !inA.some((ip) => ofB.of.has(ip) || ip === a.target);
  const asked = [ofA.total - ofA.unknown, ofB.total - ofB.unknown] as const;
  return { ways: inA.length + inB.length, asked, isOther: isOther && !inB.includes(b.target ?? '') };
}

/**
 * Bound of the probability that chance alone gives the two searches disjoint sets of routers at these hops: Fisher’s
 * exact test for one set of routers, times the number of sets, 2^ways (union bound). The hop with the fewest routers
 * bounds the number of ways. Assumes that only the first flow was sent to every hop, and that all others differ from
 * hop to hop.
 */
function chanceOfRun(run: readonly Hop[], flows: readonly [number, number]): number {
  const passing = (index: 0 | 1): number =>
    Math.min(
      flows[index],
      run.reduce((sum, { asked }) => sum + Math.max(0, asked[index] - 1), 1),
    );
  const [inA, inB] = [passing(0), passing(1)];
  const ways = Math.min(...run.map((hop) => hop.ways));
  return 2 ** ways * chanceOfMore({ sent: inA, lost: inA }, { sent: inB, lost: 0 });
}

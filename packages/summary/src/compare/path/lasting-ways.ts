import type { PathChange } from '@vantage/contract';

import { thresholds } from '../../thresholds.ts';
import { chanceOfMore } from '../../chance.ts';
import type { Trace } from '../../traceroute/trace.ts';
import { changesAt, flowsAt, type HopFlows } from './missing-flows.ts';

/** Paths of a load balancer that are gone, or new, since some run. */
export interface LastingChange {
  /** Number of traces after the change: none shows a lost path, several show a new one. */
  readonly later: number;
  readonly changes: readonly PathChange[];
}

/** The flows of several traces at one hop. */
interface Pool extends HopFlows {
  /** Number of traces that show each router. */
  readonly runs: ReadonlyMap<string, number>;
}

/**
 * Finds the run since which a load balancer has lost or gained paths, if the flows of all runs prove it: one run may
 * miss a path by chance. Several runs must show the path, and several must not, because the flows of one run may not be
 * distributed independently.
 *
 * @param traces of one probe to one target, oldest first
 */
export function lastingChange(traces: readonly Trace[]): LastingChange | undefined {
  const { wayByChance, runsWithWay: fewest } = thresholds.compare;
  const hops = Math.min(...traces.map(({ steps }) => Math.max(0, ...steps.map(({ hop }) => hop))));
  const splits = Array.from({ length: Math.max(0, traces.length - 2 * fewest + 1) }, (_, index) => fewest + index);
  const flows = Array.from({ length: hops }, (_, index) => traces.map((trace) => flowsAt(trace, index + 1)));
  const tests = splits.flatMap((later) =>
    flows.flatMap((own, index) => {
      const [before, after] = [poolOf(own.slice(0, -later)), poolOf(own.slice(-later))];
      return [...missingIn(after, before), ...missingIn(before, after)].map((chance) => ({
        later,
        chance,
        at: { hop: index + 1, a: [...before.of.keys()].toSorted(), b: [...after.of.keys()].toSorted() },
      }));
    }),
  );
  const proved = tests.filter(({ chance }) => chance * tests.length <= wayByChance);
  const [best] = proved.toSorted((one, other) => one.chance - other.chance);
  if (best === undefined) return undefined;
  const own = new Map(proved.filter(({ later }) => later === best.later).map(({ at }) => [at.hop, at]));
  return { later: best.later, changes: changesAt([...own.values()]) };
}

function poolOf(all: readonly HopFlows[]): Pool {
  const sum = (ofRouter: (flows: HopFlows, router: string) => number): ReadonlyMap<string, number> =>
    new Map(
      [...new Set(all.flatMap(({ of }) => [...of.keys()]))].map((router) => [
        router,
        all.reduce((total, flows) => total + ofRouter(flows, router), 0),
      ]),
    );
  return {
    total: all.reduce((total, flows) => total + flows.total, 0),
    unknown: all.reduce((total, flows) => total + flows.unknown, 0),
    of: sum(({ of }, router) => of.get(router) ?? 0),
    runs: sum(({ of }, router) => (of.has(router) ? 1 : 0)),
  };
}

/**
 * For each router of `more` the probability that the flows of `less` miss it by chance; 1 if one of them passed it, or
 * if too few runs show it. An unanswered flow of `less` counts as one that passed the router.
 */
function missingIn(less: Pool, more: Pool): readonly number[] {
  // Not compared if no address is known, or if a search names no flows.
  if (less.of.size === 0) return [];
  return [...more.of].map(([router, flows]) => {
    if (less.of.has(router) || more.runs.get(router)! < thresholds.compare.runsWithWay) return 1;
    return chanceOfMore({ sent: more.total, lost: flows }, { sent: less.total, lost: less.unknown });
  });
}

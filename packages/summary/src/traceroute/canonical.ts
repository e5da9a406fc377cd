import type { CanonicalPath } from '@vantage/contract';

import { safeText, unique } from '../words.ts';
import { presentSteps } from './rounds/path-change.ts';
import { hashOf } from './steps/hash.ts';
import { isSilent, withoutEarlierRefuser, type Step, type Trace } from './trace.ts';

/**
 * The hops of a path as sets of addresses, up to the last hop that answered, or to the last node of a search that found
 * a routing loop. If the path changed between two rounds, the hops of the new path. Independent of times, names and the
 * order of answers.
 */
export function canonicalPath(trace: Trace): CanonicalPath {
  const steps = presentSteps(trace).map((step, ...others) =>
    isAtHop(trace, step) ? step : withoutEarlierRefuser(step, ...others),
  );
  const last = Math.min(steps[steps.findLastIndex((step) => !isSilent(step))]?.hop ?? 0, lastOfCircle(trace));
  const hops = Array.from({ length: last }, (_, index) => {
    const own = steps.filter(({ hop }) => hop === index + 1);
    return [...unique(own.flatMap(({ routers }) => routers.map(({ ip }) => safeText(ip, 45))))];
  });
  return { hash: hashOf(JSON.stringify(hops)), hops };
}

/**
 * The last hop to compare of a search for all paths that found a routing loop: beyond it, the routers of the loop
 * repeat. Infinity without a search or a loop.
 */
function lastOfCircle({ branching, probeResult }: Trace): number {
  const { loop } = probeResult.result;
  const isCircle = loop !== null && loop !== undefined && branching.length > 0;
  return isCircle ? Math.max(...branching.map(({ hop }) => hop)) : Infinity;
}

/** True if the sender of a hop's ICMP error is at this hop of some flow. */
function isAtHop({ routes }: Trace, { hop, icmp }: Step): boolean {
  const from = icmp?.from;
  if (from === undefined || from === null) return false;
  return routes.some(({ steps }) =>
    steps.some((step) => step.hop === hop && step.routers.some(({ ip }) => ip === from)),
  );
}

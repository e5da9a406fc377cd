import type { CanonicalPath, PathChange, PathComparison } from '@vantage/contract';

import { thresholds } from '../../thresholds.ts';
import { canonicalPath } from '../../traceroute/canonical.ts';
import type { Trace } from '../../traceroute/trace.ts';
import { differingParts } from './align.ts';
import { changedHops } from './flows.ts';
import { missingFlows } from './missing-flows.ts';
import { areOtherRouters } from './other-routers.ts';

/**
 * Compares two traces of one probe. A trace shows some of the next hops of each load balancer, so different routers
 * alone prove no change: it must be improbable that the flows of both traces were distributed over the same next hops.
 */
export function comparePaths(a: Trace | undefined, b: Trace | undefined): PathComparison {
  const paths = { a: a === undefined ? null : canonicalPath(a), b: b === undefined ? null : canonicalPath(b) };
  if (a === undefined || b === undefined || !isComparable(a, b))
    return { relation: 'not_compared', ...paths, changes: [] };
  if (paths.a!.hash === paths.b!.hash) return { relation: 'same', ...paths, changes: [] };
  const parts = differingParts(
    { hops: paths.a!.hops, isWhole: isWhole(a) },
    { hops: paths.b!.hops, isWhole: isWhole(b) },
  );
  const hops = changedHops(a, b, thresholds.compare.pathByChance);
  // No part differs if a router lost its flows to another router that both traces show: then the hops are listed.
  const changes = parts.length > 0 ? parts : hops.map((hop) => changeAt(hop, paths.a!, paths.b!));
  if (hops.length > 0 || areOtherRouters(a, b, thresholds.compare.pathByChance))
    return { relation: 'changed', ...paths, changes: [...changes] };
  const doubtful = changes.length > 0 ? changes : missingFlows(a, b, paths.a!, paths.b!);
  return { relation: doubtful.length > 0 ? 'unsure' : 'compatible', ...paths, changes: [...doubtful] };
}

/** True for traces to one address with one protocol. */
export function isComparable(a: Trace, b: Trace): boolean {
  return a.target !== null && a.target === b.target && protocolOf(a) === protocolOf(b);
}

/** Protocol of the packets: traces with different protocols are not compared, because routers may hash the protocol. */
function protocolOf({ probeResult }: Trace): string | undefined {
  return probeResult.result.protocol;
}

/** True if the path is known to its end: the target answered at one of its hops. */
function isWhole({ steps, target, isReached }: Trace): boolean {
  return isReached && steps.some(({ routers }) => routers.some(({ ip }) => ip === target));
}

function changeAt(hop: number, a: CanonicalPath, b: CanonicalPath): PathChange {
  const [ofA, ofB] = [a.hops[hop - 1], b.hops[hop - 1]];
  return {
    hopA: ofA === undefined ? null : hop,
    hopB: ofB === undefined ? null : hop,
    a: ofA === undefined ? [] : [ofA],
    b: ofB === undefined ? [] : [ofB],
  };
}

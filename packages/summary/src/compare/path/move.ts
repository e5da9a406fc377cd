import type { PathChange } from '@vantage/contract';

import type { Trace } from '../../traceroute/trace.ts';
import { unique } from '../../words.ts';

/** A change of a path in fields, for events of monitors. */
export interface PathMove {
  /** First hop that differs. */
  readonly hop: number;
  /** Addresses before the change, for each hop of the first run of differing hops; none for a silent hop. */
  readonly from: readonly (readonly string[])[];
  /** Addresses of the hops that replace them. */
  readonly to: readonly (readonly string[])[];
  /** Networks before the change at hops that differ, without those that are on the path afterwards. */
  readonly networksGone: readonly string[];
  /** Networks after the change at hops that differ, without those that were on the path before. */
  readonly networksNew: readonly string[];
}

/** @param changes at least one */
export function moveOf(changes: readonly PathChange[], before: readonly Trace[], after: readonly Trace[]): PathMove {
  const [first] = changes;
  const addresses = (side: 'a' | 'b'): readonly string[] => changes.flatMap((change) => change[side].flat());
  return {
    hop: first!.hopA ?? first!.hopB!,
    from: first!.a,
    to: first!.b,
    networksGone: networksOnlyOf(addresses('a'), before, after),
    networksNew: networksOnlyOf(addresses('b'), after, before),
  };
}

function networksOnlyOf(
  addresses: readonly string[],
  own: readonly Trace[],
  others: readonly Trace[],
): readonly string[] {
  const elsewhere = new Set(routersOf(others).map(({ asn }) => asn));
  const found = routersOf(own).flatMap(({ ip, asn }) => (addresses.includes(ip) && asn !== null ? asn : []));
  return unique(found).filter((asn) => !elsewhere.has(asn));
}

function routersOf(traces: readonly Trace[]): Trace['steps'][number]['routers'] {
  return traces.flatMap(({ steps }) => steps.flatMap(({ routers }) => routers));
}

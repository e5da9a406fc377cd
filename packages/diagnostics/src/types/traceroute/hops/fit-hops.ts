import { MAX_RESULT_BYTES } from '@vantage/contract';

import type { Hop } from '../result-fields.ts';
import { NAMELESS } from './hop-names.ts';

/**
 * Maximum size of the hops, bytes; the rest of a result is for other fields and for the networks that the coordinator
 * adds.
 */
const HOPS_BYTES = MAX_RESULT_BYTES * 0.75;

/** MPLS labels that each hop keeps if the hops are too large. */
const FEW_LABELS = 4;
/** If the hops are still too large, those beyond this TTL keep no labels. */
const LABELLED_HOPS = 8;

/**
 * Removes the headers of replies, then labels, the names of responders, responders and the names of hops, only until
 * the hops fit in a result, as those of many flows or hostile routers may not.
 *
 * @param multipath the other description of the path in the result, which shares the space with the hops
 */
export function fitHops(hops: readonly Hop[], multipath?: object): Hop[] {
  const bytes = HOPS_BYTES - (multipath === undefined ? 0 : bytesOf(multipath));
  const most = Math.max(0, ...hops.map(({ responders }) => responders.length));
  const steps: ((hop: Hop) => Hop)[] = [
    ({ replies: _replies, packets: _packets, ...hop }) => hop,
    (hop) => ({ ...hop, mpls: hop.mpls.slice(0, FEW_LABELS) }),
    (hop) => (hop.hop > LABELLED_HOPS ? { ...hop, mpls: [] } : hop),
    (hop) => ({ ...hop, responders: hop.responders.map((responder) => ({ ...responder, ...NAMELESS })) }),
    ...Array.from({ length: most }, (_, index) => (hop: Hop) => ({
      ...hop,
      responders: hop.responders.slice(0, most - 1 - index),
    })),
    (hop) => ({ ...hop, ...NAMELESS }),
  ];
  let fitted = [...hops];
  for (const step of steps) {
    if (bytesOf(fitted) <= bytes) return fitted;
    fitted = fitted.map(step);
  }
  return fitted;
}

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

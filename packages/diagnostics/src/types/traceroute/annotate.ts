import type { LookUpPlace } from '@vantage/contract';

import type { Hop } from './result-fields.ts';

/** Adds the networks of the hops and their responders. */
export function withNetworks<T extends { readonly hops?: Hop[] }>(result: T, lookUp: LookUpPlace): T {
  return result.hops === undefined ? result : { ...result, hops: result.hops.map((hop) => annotateHop(hop, lookUp)) };
}

function annotateHop(hop: Hop, lookUp: LookUpPlace): Hop {
  const responders = hop.responders.map((responder) => ({ ...responder, ...network(responder.ip, lookUp) }));
  return { ...hop, ...network(hop.ip, lookUp), responders };
}

function network(ip: string | null, lookUp: LookUpPlace): Pick<Hop, 'asn' | 'asName'> {
  if (ip === null) return { asn: null, asName: null };
  const { asn, asName } = lookUp(ip);
  return { asn, asName };
}

import { addressSchema } from './formats.ts';
import { Type, type Static } from './type.ts';

/** Hops of a path as sets of addresses, and a hash of them. */
export const canonicalPathSchema = Type.Object(
  {
    hash: Type.String({
      pattern: '^[0-9a-f]{16}$',
      maxLength: 16,
      description:
        'Hash of `hops`. Equal hashes mean that the same routers answered at the same hops. Different ones do not mean another path: ' +
        'hops may be silent, and a trace sees some alternatives of a load balancer. `GET /check/:a/compare/:b` decides that.',
    }),
    hops: Type.Array(Type.Array(addressSchema, { maxItems: 17 }), {
      maxItems: 64,
      description:
        'For each hop from 1 to the last one that answered, the addresses of its routers in alphabetical order; empty for a hop that was ' +
        'silent or whose address is not shown. A router that refused the packets to a later hop is at its own hop only.',
    }),
  },
  { additionalProperties: false, title: 'Canonical path' },
);

export type CanonicalPath = Static<typeof canonicalPathSchema>;

import { addressSchema, defineCheckType, familySchema, nullable, placeFields, Type } from '@vantage/contract';

import { MAX_LISTED_ADDRESSES } from '../../shared/address-fields.ts';

export const info = defineCheckType({
  type: 'info',
  title: 'Info',
  summary:
    'Name, network, provider and location of an address. `rt` is the time of the name resolution, null for an address.',
  hostKind: 'host',
  purpose: 'info',
  fields: {},
  options: { family: Type.Optional(familySchema) },
  result: {
    ip: addressSchema,
    addresses: Type.Array(addressSchema, {
      maxItems: MAX_LISTED_ADDRESSES,
      description: `The addresses of the name, of one family if it was chosen, in the order of the answers: the first ${MAX_LISTED_ADDRESSES}.`,
    }),
    hostname: nullable(Type.String({ maxLength: 256, description: 'The name of `ip` (PTR record).' })),
    hostnameVerified: nullable(
      Type.Boolean({
        description:
          'True if `hostname` has `ip` among its own addresses, false if it has others or none; null without a ' +
          'name, or if the resolver did not say: it failed, or time was short.',
      }),
    ),
    ...placeFields,
  },
  requiredOnSuccess: ['ip', 'addresses', 'hostname', 'hostnameVerified'],
  needsRawSockets: false,
  // Nothing is sent to the target.
  traffic: () => ({ packets: 0, bytes: 0 }),
  budgetMs: () => 10_000,
  registeredAddress: ({ ip }) => ip,
  annotate: (result, lookUp) => (result.ip === undefined ? result : { ...result, ...lookUp(result.ip) }),
});

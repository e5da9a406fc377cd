import { addressSchema, Type, type Target } from '@vantage/contract';

/** Limit of the field `addresses` below. */
export const MAX_RESULT_ADDRESSES = 20;

/** Limit of the field `addresses` of http and info. */
export const MAX_LISTED_ADDRESSES = 32;

/** Result field of the types that measure one address of a name. */
export const addressesField = {
  addresses: Type.Array(addressSchema, {
    maxItems: MAX_RESULT_ADDRESSES,
    description: `The first ${MAX_RESULT_ADDRESSES} addresses that the name resolved to, in the order of the answers; absent if there is only one. \`resolvedIp\` alone was measured.`,
  }),
};

/** The measured address of a target, and the first `MAX_RESULT_ADDRESSES` of its name if it has several. */
export function addressFields({ address, addresses }: Pick<Target, 'address' | 'addresses'>): {
  resolvedIp: string;
  addresses?: string[];
} {
  return {
    resolvedIp: address,
    ...(addresses.length > 1 ? { addresses: addresses.slice(0, MAX_RESULT_ADDRESSES) } : {}),
  };
}

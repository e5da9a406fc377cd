import { AGENT, CANARIES, OWN, PUBLIC, VACANT, ZONE } from './addresses.ts';

/** Addresses of a name at its nth query, counted per record type. */
export type AddressesOf = (asked: number) => readonly string[];

/**
 * A name that resolves, always or at times, to an address that no packet may reach, or whose records are malformed or
 * of another name.
 */
export interface CanaryName {
  readonly name: string;
  readonly addresses: AddressesOf;
  /** Name to which a CNAME record leads; the addresses belong to it. */
  readonly cname?: string;
  /**
   * Octets by which each address record is longer (or, if negative, shorter) than an address, so that it is malformed.
   */
  readonly extraOctets?: number;
  /** The records belong to this name instead of the queried one. */
  readonly foreign?: string;
  /** True if the agent may measure the name's public address. */
  readonly mayAnswer?: boolean;
}

const forbidden = [...Object.keys(CANARIES), ...OWN.filter((address) => !address.startsWith('ff02'))];

const always =
  (...addresses: readonly string[]): AddressesOf =>
  () =>
    addresses;

/** The canary name that resolves to this forbidden address. */
export function nameOf(address: string): string {
  return `leads-${forbidden.indexOf(address)}.${ZONE}`;
}

/** The first query gets the addresses `first`, every later one `then`. */
const turning = (first: readonly string[], then: readonly string[]): AddressesOf => {
  return (asked) => (asked <= 1 ? first : then);
};

export const canaryNames: readonly CanaryName[] = [
  ...forbidden.map((address, index) => ({ name: `leads-${index}.${ZONE}`, addresses: always(address) })),
  { name: `mixed.${ZONE}`, addresses: always(PUBLIC.ipv4, '10.0.0.1') },
  { name: `mixed-last.${ZONE}`, addresses: always('127.0.0.1', PUBLIC.ipv4) },
  { name: `mixed-families.${ZONE}`, addresses: always(PUBLIC.ipv4, 'fd00:ec2::254') },
  { name: `mixed-mapped.${ZONE}`, addresses: always(PUBLIC.ipv6, '::ffff:169.254.169.254') },
  { name: `mixed-many.${ZONE}`, addresses: always(...VACANT, '10.0.0.1') },
  { name: `alias.${ZONE}`, cname: `leads-0.${ZONE}`, addresses: always('10.0.0.1') },
  { name: `alias-local.${ZONE}`, cname: 'localhost', addresses: always('127.0.0.1') },
  ...[4, -1].map((extraOctets) => ({
    name: `malformed${extraOctets}.${ZONE}`,
    extraOctets,
    addresses: always(PUBLIC.ipv4, PUBLIC.ipv6),
  })),
  { name: `foreign.${ZONE}`, foreign: 'other.example.net', addresses: always(PUBLIC.ipv4, PUBLIC.ipv6) },
  ...['10.0.0.1', '127.0.0.1', '169.254.169.254', AGENT.public].map((address, index) => ({
    name: `rebinds-${index}.${ZONE}`,
    mayAnswer: true,
    addresses: turning([PUBLIC.ipv4, PUBLIC.ipv6], [address, 'fd00:ec2::254']),
  })),
  {
    name: `rebinds-back.${ZONE}`,
    addresses: turning(['10.0.0.1', 'fd00:ec2::254'], [PUBLIC.ipv4, PUBLIC.ipv6]),
    mayAnswer: true,
  },
];

import { networkText } from '@vantage/contract/address';

import { parseAddress, type Address } from '../address.ts';
import { countryCodeOf, label } from '../facts.ts';

/** Registration data of the network of an address. */
export interface Registration {
  /** CIDR, in the form of `networkText`. */
  readonly prefix: string;
  readonly prefixLength: number;
  readonly org: string | null;
  readonly countryCode: string | null;
}

/**
 * Parses an RDAP answer of the class "ip network" (RFC 9083 section 5.4). The prefix is taken from the extension
 * `cidr0`; without one that contains the address, the answer applies to the address only.
 *
 * @returns null for anything else
 */
export function readRegistration(answer: unknown, address: Address): Registration | null {
  const network = recordOf(answer);
  if (network['objectClassName'] !== 'ip network') return null;
  const bits = address.bytes.length * 8;
  const prefixLength =
    listOf(network['cidr0_cidrs'])
      .map((cidr) => lengthOfHolder(recordOf(cidr), address))
      .find((length) => length !== null) ?? bits;
  return {
    prefix: networkText(address.bytes, prefixLength),
    prefixLength,
    org: registrantOf(listOf(network['entities'])),
    countryCode: countryCodeOf(network['country']),
  };
}

/** Shortest prefix that counts as that of an allocation. */
const MIN_PREFIX_LENGTH = 3;

function lengthOfHolder(cidr: Readonly<Record<string, unknown>>, address: Address): number | null {
  const text = cidr[address.family === 4 ? 'v4prefix' : 'v6prefix'];
  const length = cidr['length'];
  const start = typeof text === 'string' ? parseAddress(text) : null;
  if (start === null || start.family !== address.family || typeof length !== 'number') return null;
  if (!Number.isInteger(length) || length < MIN_PREFIX_LENGTH || length > address.bytes.length * 8) return null;
  return networkText(start.bytes, length) === networkText(address.bytes, length) ? length : null;
}

/**
 * The name of the first registrant that is an organization, else of the first that is no individual; null without one.
 */
function registrantOf(entities: readonly unknown[]): string | null {
  const registrants = entities
    .map(recordOf)
    .filter(({ roles }) => listOf(roles).includes('registrant'))
    .map(({ vcardArray }) => listOf(listOf(vcardArray)[1]));
  const named = registrants.map((card) => ({ kind: valueOf(card, 'kind'), name: label(valueOf(card, 'fn')) }));
  const organization = named.find(({ kind, name }) => kind === 'org' && name !== null);
  return (organization ?? named.find(({ kind, name }) => kind !== 'individual' && name !== null))?.name ?? null;
}

/** A property of a jCard (RFC 7095 section 3.3): `[name, parameters, type, value]`. */
function valueOf(card: readonly unknown[], property: string): unknown {
  return card.map(listOf).find(([name]) => name === property)?.[3];
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

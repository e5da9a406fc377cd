import type { Family } from '@vantage/contract';

import { ADDRESS_BITS, formatAddress, parseAddress, type Address } from './address.ts';

/** A CIDR prefix; `first` has no bits set beyond `length`. */
export interface Prefix {
  readonly family: Family;
  readonly first: bigint;
  readonly length: number;
}

/** A longest-prefix-match table. */
export interface PrefixTable<Entry> {
  /** The entry of the longest prefix that contains an address; undefined if none does. */
  readonly find: (address: Address) => Entry | undefined;
  /** The entry of the longest prefix that contains another prefix, or equals it; undefined if none does. */
  readonly findCovering: (prefix: Prefix) => Entry | undefined;
}

/**
 * Parses a CIDR, or an address as a host prefix; undefined for any other text. Host bits must be zero: a typing error
 * in a list of exceptions must not widen it.
 */
export function parsePrefix(text: string): Prefix | undefined {
  const [, addressText, lengthText] = /^([^/]*)(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text) ?? [];
  const address = addressText === undefined ? undefined : parseAddress(addressText);
  if (address === undefined) return undefined;
  const length = lengthText === undefined ? ADDRESS_BITS[address.family] : Number(lengthText);
  if (length > ADDRESS_BITS[address.family]) return undefined;
  const prefix = prefixOf(address, length);
  return prefix.first === address.value ? prefix : undefined;
}

/** The prefix of a given length that contains an address. */
export function prefixOf(address: Address, length: number): Prefix {
  const hostBits = BigInt(ADDRESS_BITS[address.family] - length);
  return { family: address.family, first: (address.value >> hostBits) << hostBits, length };
}

export function formatPrefix({ family, first, length }: Prefix): string {
  return `${formatAddress({ family, value: first })}/${length}`;
}

export function lastAddress({ family, first, length }: Prefix): Address {
  return { family, value: first + (1n << BigInt(ADDRESS_BITS[family] - length)) - 1n };
}

/** True if `outer` contains `inner`. */
export function covers(outer: Prefix, inner: Prefix): boolean {
  if (outer.family !== inner.family || outer.length > inner.length) return false;
  return prefixOf({ family: inner.family, value: inner.first }, outer.length).first === outer.first;
}

/**
 * Builds a longest-prefix-match table. Prefixes nest or are disjoint, so each family becomes a sorted list of ranges
 * with at most one entry each, and `find` is a binary search.
 */
export function createPrefixTable<Entry>(rows: readonly (readonly [Prefix, Entry])[]): PrefixTable<Entry> {
  const longestFirst = rows.toSorted(([a], [b]) => b.length - a.length);
  const stretches = { 4: flatten(longestFirst, 4), 6: flatten(longestFirst, 6) };
  return {
    find: (address) => search(stretches[address.family], address.value),
    findCovering: (prefix) => longestFirst.find(([row]) => covers(row, prefix))?.[1],
  };
}

interface Stretches<Entry> {
  /** First value of each range, ascending from 0. */
  readonly starts: readonly bigint[];
  readonly entries: readonly (Entry | undefined)[];
}

function flatten<Entry>(longestFirst: readonly (readonly [Prefix, Entry])[], family: Family): Stretches<Entry> {
  const own = longestFirst.filter(([prefix]) => prefix.family === family);
  const edges = own.flatMap(([prefix]) => [prefix.first, lastAddress(prefix).value + 1n]);
  const starts = [...new Set([0n, ...edges])].toSorted((a, b) => (a < b ? -1 : 1));
  const entries = starts.map((start) => own.find(([prefix]) => holds(prefix, start))?.[1]);
  return { starts, entries };
}

function holds(prefix: Prefix, value: bigint): boolean {
  return prefix.first <= value && value <= lastAddress(prefix).value;
}

function search<Entry>({ starts, entries }: Stretches<Entry>, value: bigint): Entry | undefined {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (starts[middle]! <= value) low = middle;
    else high = middle - 1;
  }
  return entries[low];
}

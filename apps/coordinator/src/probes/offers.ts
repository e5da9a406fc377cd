import { escapeText, redisKeys, type Family } from '@vantage/contract';
import { addressText, mappedIpv4, readAddress } from '@vantage/contract/address';
import type { Redis } from 'ioredis';

import { readHash } from '../redis/read-hash.ts';

/** Addresses of a probe that its operator offers to other probes, at most one of each family. */
export type Offer = readonly string[];

/** The offers of all probes, by id. No agent can write them. */
export async function readOffers(redis: Redis): Promise<ReadonlyMap<string, Offer>> {
  const stored = await readHash(redis, redisKeys.offeredAddresses);
  return new Map(Object.entries(stored).map(([id, text]) => [id, text.split(' ')]));
}

/** Replaces the offer of a probe; an empty one withdraws it. */
export async function writeOffer(redis: Redis, id: string, addresses: Offer): Promise<void> {
  if (addresses.length === 0) await redis.hdel(redisKeys.offeredAddresses, id);
  else await redis.hset(redisKeys.offeredAddresses, id, addresses.join(' '));
}

export function addressFamily(address: string): Family {
  return address.includes(':') ? 6 : 4;
}

/** Parses the addresses of `probe:offer`. */
export function readOffer(
  texts: readonly string[],
): { readonly addresses: Offer } | { readonly faults: readonly string[] } {
  const read = texts.map((text) => ({ text: escapeText(text, 80), bytes: readAddress(text) }));
  const wrong = read.filter(({ bytes }) => bytes === undefined || mappedIpv4(bytes) !== undefined);
  if (wrong.length > 0) {
    return { faults: wrong.map(({ text }) => `<address>: must be an IPv4 or IPv6 address, not “${text}”`) };
  }
  const addresses = read.map(({ bytes }) => addressText(bytes!));
  const families = new Set(addresses.map(addressFamily));
  if (families.size < addresses.length) return { faults: ['<address>: must be at most one of each family'] };
  return { addresses: addresses.toSorted((a, b) => addressFamily(a) - addressFamily(b)) };
}

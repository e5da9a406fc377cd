import { unknownPlace, type Family, type Place } from '../../packages/contract/src/index.ts';

/** Probes, each with a separate address and first router. */
export const PROBES = ['fra-1', 'nyc-1', 'sgp-1', 'gru-1'] as const;

/** First bytes of the routers' IPv4 addresses, by number of the router among those of the same hop. */
const WAYS = [62, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 193, 194, 195, 212];
/** First bytes of the IPv4 addresses of the first routers, by probe. */
const FIRST_ROUTERS = [92, 93, 94, 95];
const ELSEWHERE = 213;

/**
 * Addresses of a case encode its number, and those of routers the hop as well. Most are public addresses of other
 * networks, so no packet may leave the namespaces.
 */
export const targetAddress = (family: Family, number: number): string =>
  family === 4 ? `185.${number >> 8}.${number & 255}.9` : canonical(`2a03:0:${number}::9`);

export const elsewhereAddress = (family: Family, number: number): string =>
  family === 4 ? `${ELSEWHERE}.${number >> 8}.${number & 255}.9` : canonical(`2a03:1:${number}::9`);

export const routerAddress = (family: Family, number: number, hop: number, way: number): string =>
  family === 4 ? `${WAYS[way]}.${number >> 8}.${number & 255}.${hop}` : canonical(`2a01:${way}:${number}::${hop}`);

/** The second address of a router. */
export const otherAddress = (family: Family, number: number, hop: number, way: number): string =>
  family === 4
    ? `${WAYS[way]}.${number >> 8}.${number & 255}.${hop + 100}`
    : canonical(`2a01:${way}:${number}::1:${hop}`);

export const privateAddress = (family: Family, number: number, hop: number): string =>
  family === 4 ? `10.${number >> 8}.${number & 255}.${hop}` : canonical(`fd00:${number}::${hop}`);

export const firstRouterAddress = (family: Family, number: number, probe: number): string =>
  family === 4 ? `${FIRST_ROUTERS[probe]}.${number >> 8}.${number & 255}.1` : canonical(`2a02:${probe}:${number}::1`);

export const probeAddress = (family: Family, probe: number): string =>
  family === 4 ? `5.9.${probe}.10` : `2a04:${probe}::10`;

/** The canonical form of an IPv6 address, as results have it: in case 0 more zeros are shortened. */
function canonical(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

/**
 * Network of a simulated address: routers at hops 1 and 2 share one, those at hops 3 and 4, and so on; the target has
 * its own, private addresses have none.
 */
export function placeOf(address: string): Place {
  if (/^(10\.|fd00:)/.test(address)) return unknownPlace;
  if (/^(185\.|2a03:)/.test(address)) return { ...unknownPlace, asn: 'AS64999', asName: 'TARGET' };
  const hop = Number((/[.:](\d+)$/.exec(address) ?? [])[1] ?? 0) % 100;
  const number = 64_500 + Math.ceil(hop / 2);
  return { ...unknownPlace, asn: `AS${number}`, asName: `TRANSIT-${number}` };
}

import { formatAddress } from '../addresses/address.ts';

export interface Routes {
  /** Next hops of every route. */
  readonly gateways: readonly string[];
  /** True if there is a default route. */
  readonly hasDefault: boolean;
}

/** RTF_REJECT of linux/route.h: marks the kernel's default route on `lo` when there is no real one. */
const REJECT = 0x200;

/**
 * Reads /proc/net/route: addresses as 32 bits in the byte order of the host, here little-endian, as on x64 and arm64.
 * Routes that refuse or drop packets have `*` as their interface.
 */
export function parseIpv4Routes(text: string): Routes {
  const rows = text
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((row) => row.length >= 8)
    .map(([device, destination, gateway, , , , , mask]) => ({
      isDefault: destination === '00000000' && mask === '00000000' && device !== '*',
      gateway: gateway!,
    }));
  return {
    gateways: unique(
      rows.map(({ gateway }) => swapBytes(gateway)).filter((value) => value !== 0n),
      4,
    ),
    hasDefault: rows.some(({ isDefault }) => isDefault),
  };
}

/**
 * Reads /proc/net/ipv6_route: destination, length, source, length, next hop, metric, references, use, flags, device.
 */
export function parseIpv6Routes(text: string): Routes {
  const rows = text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((row) => row.length >= 10)
    .map(([destination, length, , , nextHop, , , , flags, device]) => ({
      isDefault: /^0{32}$/.test(destination!) && length === '00' && device !== 'lo',
      nextHop: BigInt(`0x${nextHop!}`),
      rejects: (Number.parseInt(flags!, 16) & REJECT) !== 0,
    }));
  return {
    gateways: unique(
      rows.map(({ nextHop }) => nextHop).filter((value) => value !== 0n),
      6,
    ),
    hasDefault: rows.some(({ isDefault, rejects }) => isDefault && !rejects),
  };
}

function swapBytes(hex: string): bigint {
  return BigInt(`0x${(hex.match(/../g) ?? ['0']).toReversed().join('')}`);
}

function unique(values: readonly bigint[], family: 4 | 6): readonly string[] {
  return [...new Set(values)].map((value) => formatAddress({ family, value }));
}

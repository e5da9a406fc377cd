import { readFileSync } from 'node:fs';
import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os';

import { addressBytes } from '@vantage/contract/address';
import { readRoutes, type Route } from './routes.ts';

interface System {
  /** Where Linux has its routes and network devices. */
  readonly routes: string;
  readonly devices: string;
  readonly interfaces?: () => NodeJS.Dict<readonly Pick<NetworkInterfaceInfo, 'address' | 'cidr'>[]>;
}

const LINUX: System = { routes: '/proc/self/net', devices: '/sys/class/net' };

/**
 * True if no router lies between the machine and an address, and both are neighbours on a link. The route with the
 * longest prefix decides, of the kernel's and those that the addresses of interfaces imply. Over IPv6 the latter count
 * only if the former cannot be read: a router may announce a prefix as not on-link (RFC 4861 section 6.3.4). False if a
 * default route without a router decides: behind it are hosts for which a router answers ARP.
 */
export function isOnLink(
  address: string,
  { routes, devices, interfaces = networkInterfaces }: System = LINUX,
): boolean {
  const bytes = addressBytes(address.replace(/%.*$/, ''));
  const isTo = ({ network, bits }: Route): boolean =>
    network.length === bytes.length && valueOf(network) >> shift(bits) === valueOf(bytes) >> shift(bits);
  const shift = (bits: number): bigint => BigInt(8 * bytes.length - bits);
  const known = readRoutes(routes);
  const isComplete = bytes.length === 16 && known.some(({ network }) => network.length === 16);
  const [best] = [...known, ...(isComplete ? [] : routesOf(interfaces()))]
    .filter(isTo)
    .toSorted((a, b) => b.bits - a.bits || a.metric - b.metric);
  return best !== undefined && best.bits > 0 && !best.hasRouter && hasNeighbours(devices, best.device);
}

function routesOf(interfaces: ReturnType<NonNullable<System['interfaces']>>): readonly Route[] {
  return Object.entries(interfaces).flatMap(([device, addresses = []]) =>
    addresses.flatMap(({ address, cidr }) => {
      const bits = cidr?.split('/')[1];
      const network = addressBytes(address.replace(/%.*$/, ''));
      return bits === undefined ? [] : [{ network, bits: Number(bits), metric: Infinity, hasRouter: false, device }];
    }),
  );
}

/** Flags of interfaces (`linux/if.h`). */
const [IFF_POINTOPOINT, IFF_NOARP] = [0x10, 0x80];

/** False for tunnels such as WireGuard, which report a host as unreachable if they have no peer for it. */
function hasNeighbours(devices: string, device: string): boolean {
  try {
    const flags = Number(readFileSync(`${devices}/${device}/flags`, 'utf8'));
    return (flags & (IFF_POINTOPOINT | IFF_NOARP)) === 0;
  } catch {
    return true;
  }
}

function valueOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

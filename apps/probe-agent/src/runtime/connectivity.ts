import { BlockList, isIP } from 'node:net';

export interface Connectivity {
  readonly ipv4: boolean;
  readonly ipv6: boolean;
}

/** Interfaces and routes of the machine. */
export interface NetworkFacts {
  /** Own addresses, including loopback. */
  readonly addresses: readonly string[];
  /** Families with a default route. */
  readonly connectivity: Connectivity;
}

/** Loopback and link-local addresses, which prove no connectivity. */
const LOCAL = /^(127\.|169\.254\.|::1$|fe[89ab])/;

/**
 * Address families usable for measurements: those with a default route and an address that is not `LOCAL`, and those
 * with an own address in a range that the operator allows as target, such as loopback for trials.
 *
 * @param allowed addresses and CIDRs
 */
export function usableFamilies(allowed: readonly string[], { addresses, connectivity }: NetworkFacts): Connectivity {
  const ranges = rangesOf(allowed);
  /** A default route alone is insufficient: a router may advertise one without a prefix. */
  const hasAddress = (family: 4 | 6): boolean => addresses.some((own) => isIP(own) === family && !LOCAL.test(own));
  const isInside = (family: 4 | 6): boolean =>
    addresses.some((own) => isIP(own) === family && ranges.check(own, family === 4 ? 'ipv4' : 'ipv6'));
  return {
    ipv4: (connectivity.ipv4 && hasAddress(4)) || isInside(4),
    ipv6: (connectivity.ipv6 && hasAddress(6)) || isInside(6),
  };
}

function rangesOf(entries: readonly string[]): BlockList {
  const ranges = new BlockList();
  for (const entry of entries) {
    const [address = '', length] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (length === undefined) ranges.addAddress(address, family);
    else ranges.addSubnet(address, Number(length), family);
  }
  return ranges;
}

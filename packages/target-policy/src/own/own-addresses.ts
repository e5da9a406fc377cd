import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

import { formatAddress, parseAddress } from '../addresses/address.ts';
import type { OwnAddresses } from './own-network.ts';
import { formatPrefix, prefixOf } from '../addresses/prefix.ts';
import { parseIpv4Routes, parseIpv6Routes, type Routes } from './routes.ts';
import { systemResolvers } from '../resolver/system-resolvers.ts';

export interface DiscoveredAddresses extends OwnAddresses {
  /** Families with a default route; if the routes cannot be read, with an address that is not internal. */
  readonly connectivity: { readonly ipv4: boolean; readonly ipv6: boolean };
}

export interface DiscoveryOptions {
  /** The agent's configured resolvers, `address`, `address:port` or `[address]:port`; empty for those of the system. */
  readonly resolvers: readonly string[];
  /** Addresses and CIDRs to add: the public address of the probe, other agents, NAT64 prefixes. */
  readonly others?: readonly string[];
  /** Time for which a result is cached; interfaces and routes change while an agent runs. */
  readonly maxAgeMs?: number;
}

/**
 * Once a discovery has succeeded, discovers at most every `maxAgeMs`. Returns the same object for as long as nothing
 * has changed, and while discovery fails: a process without file descriptors cannot read its interfaces.
 *
 * @returns a function that throws only while no discovery has succeeded
 */
export function createOwnAddresses({ maxAgeMs = 5_000, ...options }: DiscoveryOptions): () => DiscoveredAddresses {
  let known: { readonly own: DiscoveredAddresses; readonly atMs: number } | undefined;
  const discover = (): DiscoveredAddresses => {
    try {
      return discoverOwnAddresses(options);
    } catch (error) {
      if (known === undefined) throw error;
      return known.own;
    }
  };
  return () => {
    const nowMs = performance.now();
    if (known === undefined || nowMs - known.atMs >= maxAgeMs) {
      const own = discover();
      // Keeps the object while its content is the same, because the policy compiles each new object.
      known = {
        own: known !== undefined && JSON.stringify(known.own) === JSON.stringify(own) ? known.own : own,
        atMs: nowMs,
      };
    }
    return known.own;
  };
}

/** Reads the interfaces, routes and resolvers of this machine as they are now. */
export function discoverOwnAddresses({ resolvers, others = [] }: DiscoveryOptions): DiscoveredAddresses {
  const assigned = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .flatMap(({ address, cidr, internal }) => {
      const parsed = parseAddress(address);
      const length = Number(cidr?.split('/')[1]);
      return parsed === undefined ? [] : [{ address: parsed, length, internal }];
    });
  const ipv4 = readRoutes('/proc/net/route', parseIpv4Routes);
  const ipv6 = readRoutes('/proc/net/ipv6_route', parseIpv6Routes);
  const hasExternal = (family: 4 | 6): boolean =>
    assigned.some(({ address, internal }) => address.family === family && !internal);
  return {
    addresses: assigned.map(({ address }) => formatAddress(address)),
    // An interface with prefix length 0 would make the whole Internet on-link; only its address is listed.
    onLink: assigned
      .filter(({ length }) => Number.isInteger(length) && length > 0)
      .map(({ address, length }) => formatPrefix(prefixOf(address, length))),
    gateways: [...(ipv4?.gateways ?? []), ...(ipv6?.gateways ?? [])],
    resolvers: (resolvers.length > 0 ? resolvers : systemResolvers()).flatMap(resolverAddress),
    others,
    connectivity: { ipv4: ipv4?.hasDefault ?? hasExternal(4), ipv6: ipv6?.hasDefault ?? hasExternal(6) },
  };
}

/**
 * Undefined if the file cannot be read: on another system than Linux, or with a kernel without the address family.
 *
 * @throws if there is no file descriptor: without the routes the policy would not know the gateways
 */
function readRoutes(path: string, parse: (text: string) => Routes): Routes | undefined {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (/^E[MN]FILE$/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return undefined;
  }
}

/** The address in `192.0.2.1:53`, `[2001:db8::1]:53`, `fe80::1%eth0` or a plain address; empty if there is none. */
function resolverAddress(server: string): readonly string[] {
  const bare = /^\[([^\]]*)\]/.exec(server)?.[1] ?? server.replace(/^([0-9.]+):\d+$/, '$1');
  const address = parseAddress(bare.replace(/%.*$/, ''));
  return address === undefined ? [] : [formatAddress(address)];
}

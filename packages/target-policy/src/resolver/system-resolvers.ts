import { Resolver } from 'node:dns';
import { readFileSync } from 'node:fs';

import { formatAddress, parseAddress } from '../addresses/address.ts';

/**
 * The resolvers of the system, each as `address`, `address:port` or `[address]:port`; a link-local address has its
 * zone.
 */
export function systemResolvers(): readonly string[] {
  const servers = new Resolver().getServers();
  return servers.some((server) => linkLocal.test(server)) ? withZones(servers, readResolvConf()) : servers;
}

/** Reads the resolvers of the system at most every `maxAgeMs`. */
export function createSystemResolvers(maxAgeMs = 5_000): () => readonly string[] {
  let known: readonly string[] = [];
  let readAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = performance.now();
    if (nowMs - readAtMs >= maxAgeMs) [known, readAtMs] = [systemResolvers(), nowMs];
    return known;
  };
}

const linkLocal = /^\[?fe[89ab][0-9a-f]:/i;

/**
 * Adds the zones of link-local addresses, which Node leaves out and without which they are unreachable (RFC 4007
 * section 11).
 *
 * @param resolvConf the text of resolv.conf(5), which names the servers in the same order
 */
export function withZones(servers: readonly string[], resolvConf: string): readonly string[] {
  const zones = [...resolvConf.matchAll(/^\s*nameserver\s+\[?([0-9a-f:.]+)%([^\s\]]+)/gim)].map(
    ([, address, zone]) => ({ address: canonical(address!), zone: zone! }),
  );
  return servers.map((server) => {
    if (!linkLocal.test(server)) return server;
    const address = /^\[?([0-9a-f:.]+)/i.exec(server)![1]!;
    const at = zones.findIndex((known) => known.address === canonical(address));
    if (at === -1) return server;
    const [{ zone }] = zones.splice(at, 1) as [(typeof zones)[number]];
    return server.replace(address, `${address}%${zone}`);
  });
}

function canonical(text: string): string | undefined {
  const address = parseAddress(text);
  return address === undefined ? undefined : formatAddress(address);
}

function readResolvConf(): string {
  try {
    return readFileSync('/etc/resolv.conf', 'utf8');
  } catch {
    return '';
  }
}

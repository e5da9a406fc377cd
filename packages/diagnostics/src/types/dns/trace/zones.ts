import { isIP } from 'node:net';

import type { Family } from '@vantage/contract';
import { type DnsRecord, type Message, sameName } from '@vantage/contract/dns-message';

/** A name server of a zone, with the glue addresses of the delegation. */
export interface DelegatedServer {
  /** Fully qualified. */
  readonly name: string;
  readonly addresses: readonly string[];
}

export interface Zone {
  readonly name: string;
  readonly servers: readonly DelegatedServer[];
}

/** The zone that a referral leads to, with its servers. */
export function zoneOf(name: string, message: Message): Zone {
  const servers = message.authority
    .filter((record) => record.type === 'NS' && sameName(record.name, name))
    .map(({ data }) => ({ name: data, addresses: glueOf(data, message.additional) }));
  return { name, servers: withGlueFirst(servers) };
}

/** The glue addresses of a server, those of IPv4 first: more probes have IPv4 than IPv6. */
function glueOf(server: string, additional: readonly DnsRecord[]): string[] {
  const of = (type: string): string[] =>
    additional.filter((record) => record.type === type && sameName(record.name, server)).map(({ data }) => data);
  return [...of('A'), ...of('AAAA')];
}

/**
 * The servers with only those glue addresses that are of one family. Servers that have any come first; the others are
 * resolved by name.
 */
export function inFamily(servers: readonly DelegatedServer[], family: Family | undefined): readonly DelegatedServer[] {
  if (family === undefined) return servers;
  return withGlueFirst(
    servers.map(({ name, addresses }) => ({
      name,
      addresses: addresses.filter((address) => isIP(address) === family),
    })),
  );
}

/** Puts servers with a known address first: the others cost a resolution. */
function withGlueFirst(servers: readonly DelegatedServer[]): DelegatedServer[] {
  const known = servers.filter(({ addresses }) => addresses.length > 0);
  return [...known, ...servers.filter(({ addresses }) => addresses.length === 0)];
}

export function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, key: Math.random() }))
    .toSorted((left, right) => left.key - right.key)
    .map(({ item }) => item);
}

import type { TargetPurpose } from '@vantage/contract';

import { formatAddress, parseAddress, type Address } from '../addresses/address.ts';
import { canonicalizeHost } from '../hosts/canonical-host.ts';
import { embeddedIpv4 } from '../addresses/embedded.ts';
import { createPrefixTable, lastAddress, parsePrefix, type PrefixTable } from '../addresses/prefix.ts';
import { refusal, type Refusal } from '../rules/refusal.ts';

/** Addresses and CIDRs that an agent must not measure because they belong to the agent or its network. */
export interface OwnAddresses {
  readonly addresses: readonly string[];
  /** The prefix of each interface. */
  readonly onLink: readonly string[];
  readonly gateways: readonly string[];
  /** Refused for every purpose except `dns`; for `dns` too, if another of these lists contains them. */
  readonly resolvers: readonly string[];
  /**
   * Further addresses of the service: the public address of the probe, other agents, the coordinator, NAT64 prefixes.
   */
  readonly others?: readonly string[];
}

/**
 * A server of the agent's Redis, or the proxy or gateway that it connects to: `host` is an address or a configured
 * name.
 */
export interface ProtectedEndpoint {
  readonly host: string;
  readonly port: number;
}

/** `OwnAddresses` and the endpoints of Redis, compiled for look-ups. */
export interface OwnNetwork {
  readonly surroundings: PrefixTable<true>;
  readonly resolvers: PrefixTable<true>;
  /** The broadcast addresses of the links. */
  readonly broadcasts: PrefixTable<true>;
  /** Addresses of this machine. */
  readonly local: PrefixTable<true>;
  readonly redis: readonly { readonly name: string; readonly address: Address | undefined; readonly port: number }[];
}

/** Prefixes that Linux delivers to the machine itself, the unspecified addresses included. */
const LOOPBACK = ['127.0.0.0/8', '0.0.0.0', '::1', '::'];

/** @throws TypeError for a malformed entry: an incomplete list would be unsafe */
export function compileOwnNetwork(own: OwnAddresses, redis: readonly ProtectedEndpoint[]): OwnNetwork {
  const endpoints = redis.map(({ host, port }) => ({ ...readEndpointHost(host), port }));
  const redisAddresses = endpoints.flatMap(({ address }) => (address === undefined ? [] : [formatAddress(address)]));
  return {
    surroundings: tableOf([...own.addresses, ...own.onLink, ...own.gateways, ...(own.others ?? []), ...redisAddresses]),
    resolvers: tableOf(own.resolvers),
    broadcasts: tableOf(own.onLink.flatMap(broadcastOf)),
    local: tableOf([...LOOPBACK, ...own.addresses]),
    redis: endpoints,
  };
}

/** Why an address of the agent's network is refused; undefined if it is not. Does not reveal which entry matches. */
export function evaluateOwn(address: Address, purpose: TargetPurpose, own: OwnNetwork): Refusal | undefined {
  const isResolver = purpose !== 'dns' && own.resolvers.find(address) !== undefined;
  return isResolver || own.surroundings.find(address) !== undefined ? ownRefusal() : undefined;
}

/**
 * The refusal of a broadcast address of the agent's links, which no exception admits, because a check measures one
 * host; undefined for other addresses.
 */
export function evaluateBroadcast(address: Address, own: OwnNetwork): Refusal | undefined {
  if (own.broadcasts.find(address) === undefined) return undefined;
  return refusal('address_special', `${formatAddress(address)} is the broadcast address of a network of this probe.`);
}

/**
 * The refusal of the agent's Redis, an address with a port, which no exception admits; undefined for other targets. The
 * port of a Redis on this machine is refused at all addresses of the machine, because it may listen on all of them.
 */
export function evaluateRedis(address: Address, port: number | undefined, own: OwnNetwork): Refusal | undefined {
  const candidates = [address, ...embeddedIpv4(address)];
  const isLocal = candidates.some((candidate) => own.local.find(candidate) !== undefined);
  const hit = own.redis.some((endpoint) => {
    if (endpoint.port !== port || endpoint.address === undefined) return false;
    const known = [endpoint.address, ...embeddedIpv4(endpoint.address)];
    return (
      (isLocal && known.some((each) => own.local.find(each) !== undefined)) ||
      known.some((each) => candidates.some(({ family, value }) => each.family === family && each.value === value))
    );
  });
  return hit ? ownRefusal() : undefined;
}

/**
 * The refusal of the configured name of a Redis server with its port, which no exception admits; undefined for others.
 */
export function evaluateRedisName(name: string, port: number | undefined, own: OwnNetwork): Refusal | undefined {
  return own.redis.some((endpoint) => endpoint.name === name && endpoint.port === port) ? ownRefusal() : undefined;
}

/** The broadcast address of an IPv4 link; empty for IPv6 and for links of one or two addresses (RFC 3021). */
function broadcastOf(cidr: string): readonly string[] {
  const prefix = parsePrefix(cidr);
  if (prefix === undefined || prefix.family === 6 || prefix.length > 30) return [];
  return [formatAddress(lastAddress(prefix))];
}

function ownRefusal(): Refusal {
  return refusal('address_own', 'The target belongs to this probe or to its own network.');
}

function readEndpointHost(host: string): { readonly name: string; readonly address: Address | undefined } {
  const read = canonicalizeHost(host, 'name');
  if (!read.ok) throw new TypeError(`not a host: ${JSON.stringify(host)}`);
  const { kind, text } = read.canonical;
  if (kind !== 'name') return { name: text, address: parseAddress(text) };
  // RFC 6761 section 6.3: the name means loopback, regardless of any resolver.
  const isLocalhost = text === 'localhost' || text.endsWith('.localhost');
  return { name: text, address: isLocalhost ? parseAddress('127.0.0.1') : undefined };
}

function tableOf(entries: readonly string[]): PrefixTable<true> {
  return createPrefixTable(
    entries.map((entry) => {
      const prefix = parsePrefix(entry);
      if (prefix === undefined) throw new TypeError(`not an address or CIDR: ${JSON.stringify(entry)}`);
      return [prefix, true] as const;
    }),
  );
}

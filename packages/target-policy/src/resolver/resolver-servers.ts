import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

import type { ResolverAddress } from './stub-transport.ts';
import { createSystemResolvers } from './system-resolvers.ts';

/** The servers of a resolver in query order. */
export interface ResolverServers {
  readonly inOrder: () => readonly ResolverAddress[];
  /**
   * Notes which server answered, and which were silent.
   *
   * @param unanswered servers that did not answer the same query
   */
  readonly answered: (server: ResolverAddress, unanswered: Iterable<ResolverAddress>) => void;
}

/** Time for which a server that was silent while another one answered is queried last. */
const SILENT_MS = 30_000;

/**
 * Servers in configured order, except that a silent one is queried last for `SILENT_MS`, because every query would wait
 * for it.
 *
 * @param configured `address`, `address:port` or `[address]:port`; empty for those of the system
 * @throws for a malformed address
 */
export function resolverServers(configured: readonly string[], now = (): number => performance.now()): ResolverServers {
  const fixed = configured.length === 0 ? undefined : readConfigured(configured);
  // The resolvers of the system change when the machine joins another network.
  const system = createSystemResolvers();
  const silentUntil = new Map<string, number>();
  const isSilent = (server: ResolverAddress): boolean => (silentUntil.get(keyOf(server)) ?? 0) > now();
  return {
    inOrder: () => {
      const servers = fixed ?? system().map(readServer);
      const [silent, others] = [servers.filter(isSilent), servers.filter((server) => !isSilent(server))];
      return [...others, ...silent];
    },
    answered: (server, unanswered) => {
      for (const [key, untilMs] of silentUntil) if (untilMs <= now()) silentUntil.delete(key);
      for (const other of unanswered) silentUntil.set(keyOf(other), now() + SILENT_MS);
      silentUntil.delete(keyOf(server));
    },
  };
}

/** A query to a server, and the wait for its answer. */
export interface Attempt {
  readonly server: ResolverAddress;
  readonly waitMs: number;
}

/** The queries in sending order: `tries` rounds over all servers; the timeout doubles with each round. */
export function inRounds(servers: readonly ResolverAddress[], timeoutMs: number, tries: number): readonly Attempt[] {
  return Array.from({ length: tries }, (_, round) => round).flatMap((round) =>
    servers.map((server) => ({ server, waitMs: timeoutMs * 2 ** round })),
  );
}

function keyOf({ address, port }: ResolverAddress): string {
  return `${address} ${port}`;
}

function readConfigured(servers: readonly string[]): readonly ResolverAddress[] {
  // Validates the addresses, and names the malformed one.
  new Resolver().setServers(servers);
  return servers.map(readServer);
}

/** @param text `address`, `[address]`, `address:port` or `[address]:port` */
function readServer(text: string): ResolverAddress {
  if (isIP(text) !== 0) return { address: text, port: 53 };
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text)!;
  return { address: (bracketed ?? plain)!, port: port === undefined ? 53 : Number(port) };
}

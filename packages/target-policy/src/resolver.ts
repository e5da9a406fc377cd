import { Resolver } from 'node:dns/promises';

import type { Failure, Family } from '@vantage/contract';

import { formatAddress, parseAddress } from './address.ts';
import { resolverFailure } from './resolver-failure.ts';

export type AddressAnswer =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly failure: Failure };

/** Questions to the probe's own resolvers. Each rejects only with the reason of `signal`. */
export interface NameResolver {
  /** A or AAAA records, in the order of the answer, each in canonical text. */
  readonly addresses: (name: string, family: Family, signal: AbortSignal) => Promise<AddressAnswer>;
  /** PTR records in presentation format; empty for whatever goes wrong. */
  readonly reverse: (address: string, signal: AbortSignal) => Promise<readonly string[]>;
}

export interface NameResolverOptions {
  /** `address`, `address:port` or `[address]:port`, in order; empty for those of the system. */
  readonly servers: readonly string[];
  /** Wait for the first answer of each server; the second round waits longer. */
  readonly timeoutMs?: number;
  readonly tries?: number;
}

/**
 * Asks with c-ares: no hosts file, no search list. Each question has a channel of its own, so that nothing is cached
 * between checks and one that is given up takes no other with it.
 *
 * @throws when a server is no address
 */
export function createNameResolver({ servers, timeoutMs = 1_500, tries = 2 }: NameResolverOptions): NameResolver {
  const openChannel = (): Resolver => {
    const channel = new Resolver({ timeout: timeoutMs, tries });
    if (servers.length > 0) channel.setServers(servers);
    return channel;
  };
  openChannel();
  return {
    addresses: async (name, family, signal) => {
      try {
        const answer = await ask(openChannel(), signal, (channel) =>
          family === 4 ? channel.resolve4(name) : channel.resolve6(name),
        );
        return { ok: true, addresses: answer.map(canonicalText) };
      } catch (error) {
        signal.throwIfAborted();
        return { ok: false, failure: resolverFailure(error, name) };
      }
    },
    reverse: async (address, signal) => {
      try {
        const names = await ask(openChannel(), signal, (channel) => channel.reverse(address));
        // c-ares escapes what is not printable, and takes the blank for printable (RFC 1035 section 5.1).
        return names.map((name) => name.replaceAll(' ', String.raw`\032`));
      } catch {
        signal.throwIfAborted();
        return [];
      }
    },
  };
}

async function ask<Answer>(
  channel: Resolver,
  signal: AbortSignal,
  question: (channel: Resolver) => Promise<Answer>,
): Promise<Answer> {
  signal.throwIfAborted();
  const cancel = (): void => channel.cancel();
  signal.addEventListener('abort', cancel);
  try {
    return await question(channel);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** What cannot be read stays as it came, and the classifier refuses it. */
function canonicalText(text: string): string {
  const address = parseAddress(text);
  return address === undefined ? text : formatAddress(address);
}

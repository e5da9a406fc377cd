import { isIPv6, SocketAddress } from 'node:net';

import { escapeText, type NameLookup } from '@vantage/contract';
import { awakeTimer } from '@vantage/timers';

/** The name of a hop as a result shows it. */
export interface HopName {
  readonly hostname: string | null;
  /** Whether the name resolves to the address; null if that is unknown. */
  readonly hostnameVerified: boolean | null;
}

export interface HopNames {
  /** Starts the lookup of an address, once; does nothing after `MAX_NAMES` addresses. */
  readonly ask: (address: string) => void;
  /** The name that is known so far; `NAMELESS` if none is. */
  readonly known: (address: string) => HopName;
  /** Resolves when every lookup has ended, or after the timeout, which aborts the rest. */
  readonly settled: (timeoutMs: number) => Promise<void>;
}

export const NAMELESS: HopName = { hostname: null, hostnameVerified: null };

/** Maximum number of addresses that are looked up. */
const MAX_NAMES = 96;

/**
 * Looks up the PTR names of hops concurrently, and the addresses of each name, because a PTR record is not verified. If
 * the PTR lookup fails, the hop has no name.
 */
export function hopNames({ reverse, forward }: NameLookup, signal: AbortSignal): HopNames {
  const names = new Map<string, HopName>();
  const pending = new Set<Promise<void>>();
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);

  const lookUpName = async (address: string): Promise<void> => {
    const [name] = await reverse(address, either);
    if (name === undefined) return;
    const hostname = escapeText(name, 253);
    names.set(address, { hostname, hostnameVerified: null });
    const addresses = await forward(name, isIPv6(address) ? 6 : 4, either);
    // Failed and aborted lookups are not conclusive.
    if (addresses === null || either.aborted) return;
    names.set(address, { hostname, hostnameVerified: addresses.some((one) => canonical(one) === canonical(address)) });
  };
  const ask = (address: string): void => {
    if (names.has(address) || names.size >= MAX_NAMES) return;
    names.set(address, NAMELESS);
    const asked = lookUpName(address).then(
      () => void pending.delete(asked),
      () => void pending.delete(asked),
    );
    pending.add(asked);
  };
  const settled = async (timeoutMs: number): Promise<void> => {
    const timeout = Promise.withResolvers<void>();
    const stopTimer = awakeTimer(timeout.resolve, timeoutMs);
    await Promise.race([Promise.all(pending), timeout.promise]);
    stopTimer();
    over.abort();
  };
  return { ask, settled, known: (address) => names.get(address) ?? NAMELESS };
}

/** An address in one notation, since IPv6 has many. */
function canonical(text: string): string {
  return SocketAddress.parse(text.includes(':') ? `[${text}]` : text)?.address ?? text.toLowerCase();
}

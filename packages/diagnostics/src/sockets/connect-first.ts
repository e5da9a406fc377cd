import { isIPv6 } from 'node:net';

import type { Failure, Target } from '@vantage/contract';

import type { IcmpContext } from './icmp/icmp-watch.ts';
import { connectPinned, type Connected } from './connect.ts';

/** An address of the name that accepted no connection. */
export interface DeadAddress {
  readonly address: string;
  readonly failure: Failure;
  readonly ms: number;
}

export interface FirstConnected {
  /**
   * The connection to the first address that accepts one, even if it ends the connection at once; if none accepts, the
   * failure of the first address.
   */
  readonly connected: Connected;
  readonly address: string;
  readonly dead: readonly DeadAddress[];
}

/** Maximum number of addresses of a name that are tried. */
const MAX_CANDIDATES = 4;

export interface FirstOptions {
  readonly signal: AbortSignal;
  /**
   * Timeout of one handshake, milliseconds; if undefined, only signal and kernel bound it. A silent address must leave
   * time for the next one.
   */
  readonly boundMs: (isLast: boolean) => number | undefined;
  /** Context in which `connectPinned` watches for ICMP errors; without it, it does not. */
  readonly icmp?: IcmpContext;
}

/**
 * Connects to the first `MAX_CANDIDATES` candidates of an admitted name in turn, until one accepts, the probe itself is
 * the reason for a failure, or the signal aborts. The target policy has allowed every candidate.
 */
export async function connectFirst(
  target: Target,
  port: number,
  { signal, boundMs, icmp }: FirstOptions,
): Promise<FirstConnected> {
  const candidates = target.candidates ?? [target.address];
  const addresses = candidates.slice(0, MAX_CANDIDATES);
  const dead: DeadAddress[] = [];
  for (const [index, address] of addresses.entries()) {
    const timeoutMs = boundMs(index === addresses.length - 1);
    const started = performance.now();
    const pinned: Target = { ...target, address, family: isIPv6(address) ? 6 : 4 };
    const connected = await connectPinned(pinned, port, signal, {
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(icmp === undefined ? {} : { icmp }),
    });
    if (connected.failure === null || connected.ms !== undefined) return { connected, address, dead };
    dead.push({ address, failure: connected.failure, ms: performance.now() - started });
    if (signal.aborted || connected.failure.source === 'probe') break;
  }
  const [{ address, failure }] = dead as [DeadAddress];
  const told = { ...failure, message: `${failure.message}${unasked(candidates.length - dead.length)}` };
  return { connected: { socket: null, failure: told }, address, dead };
}

function unasked(count: number): string {
  if (count === 0) return '';
  return count === 1
    ? ' One more address of the name was not asked.'
    : ` ${count} more addresses of the name were not asked.`;
}

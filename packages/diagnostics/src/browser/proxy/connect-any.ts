import { isIP, isIPv6 } from 'node:net';

import type { Target } from '@vantage/contract';

import { connectPinned, type Connected } from '../../sockets/connect.ts';

const MAX_ADDRESSES = 4;
const CONNECT_TIMEOUT_MS = 8_000;
/** An address gets so much time while there is another one: a lost SYN is sent again after a second. */
const NEXT_AFTER_MS = 2_500;

/**
 * Connects to the pinned address of a target, or else to the next one of its name, as browsers do. The policy has admitted
 * all of them.
 *
 * @param answering the address that answered last, by host: it comes first the next time
 * @returns the first connection, or why there is none with the pinned address
 */
export async function connectAny(
  target: Target,
  port: number,
  answering: Map<string, string>,
  signal: AbortSignal,
): Promise<Connected> {
  const known = answering.get(target.host);
  const first = known === undefined ? [target.address] : [known, target.address];
  const addresses = [...new Set([...first, ...target.addresses])].filter(isIP).slice(0, MAX_ADDRESSES);
  const failures = new Map<string, Connected>();
  for (const [index, address] of addresses.entries()) {
    const timeoutMs = index === addresses.length - 1 ? CONNECT_TIMEOUT_MS : NEXT_AFTER_MS;
    const pinned = { ...target, address, family: isIPv6(address) ? 6 : 4 } as const;
    const connected = await connectPinned(pinned, port, signal, { timeoutMs });
    if (connected.socket === null) {
      failures.set(address, connected);
      continue;
    }
    answering.set(target.host, address);
    return connected;
  }
  return failures.get(target.address)!;
}

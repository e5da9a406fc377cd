import { SocketAddress, isIP } from 'node:net';

import type { Request } from 'express';

import { HttpProblem } from './problem.ts';

/**
 * The address of the caller: of the socket, or what trusted proxies say in `X-Forwarded-For`. Canonical text, without a
 * zone; an IPv4-mapped address is IPv4.
 *
 * @throws HttpProblem 400 where a proxy passed on what is no address
 */
export function clientAddress(request: Request): string {
  const address = canonicalAddress(request.ip ?? '');
  if (address !== undefined) return address;
  throw new HttpProblem('invalid-http', 'The address of the caller in X-Forwarded-For is not an IP address.');
}

/** Canonical text of an address (RFC 5952 for IPv6), or undefined for what is none. */
export function canonicalAddress(text: string): string | undefined {
  const [withoutZone = ''] = text.split('%', 1);
  const family = isIP(withoutZone);
  if (family === 0) return undefined;
  // A zone is a part of IPv6 addresses alone (RFC 4007).
  if (family === 4) return text === withoutZone ? text : undefined;
  const { address } = new SocketAddress({ address: withoutZone, family: 'ipv6' });
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  return mapped?.[1] ?? address;
}

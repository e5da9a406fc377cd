import { isIP } from 'node:net';

import type { InputError } from '@vantage/contract';

/** The transports by which a resolver can be asked. */
export const dnsTransports = ['udp', 'tcp', 'tls', 'https'] as const;
export type DnsTransport = (typeof dnsTransports)[number];

/** A resolver as written by a client or operator. */
export interface ResolverText {
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number | undefined;
}

/**
 * Parses `host`, `host:port`, `address`, `address:port`, `[IPv6]` or `[IPv6]:port`. An IPv6 address with a port needs
 * brackets, which no other host has (RFC 3986 section 3.2.2). The host itself is validated at admission.
 *
 * @returns `undefined` for anything else
 */
export function parseResolver(text: string): ResolverText | undefined {
  const bare = text.split(':').length > 2 && !text.startsWith('[');
  if (bare) return /^[0-9a-f:.]+$/i.test(text) ? { host: text, port: undefined } : undefined;
  const parts = /^(?:\[([0-9a-f.]*:[0-9a-f:.]*)\]|([^[\]:\s]+))(?::(\d{1,5}))?$/i.exec(text);
  const host = parts?.[1] ?? parts?.[2];
  if (host === undefined) return undefined;
  const port = parts?.[3] === undefined ? undefined : Number(parts[3]);
  if (port !== undefined && (port < 1 || port > 0xff_ff)) return undefined;
  return { host, port };
}

/** The inverse of `parseResolver`; omits the default port. */
export function resolverText(address: string, port: number, usualPort: number): string {
  if (port === usualPort) return address;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** True for text that resembles an address literal; the target policy validates it. */
export function looksLikeAddress(host: string): boolean {
  return host.includes(':') || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);
}

/** Allowed ports of a client's resolver. */
const RESOLVER_PORTS: ReadonlySet<number> = new Set([53, 853, 443]);

interface Asked {
  readonly resolver?: string | undefined;
  readonly family?: 4 | 6 | 'both' | undefined;
}

/** Errors of the resolver of a request, and of a family that its address does not have. */
export function resolverErrors({ resolver, family }: Asked): InputError[] {
  if (resolver === undefined) return [];
  const path = '/options/resolver';
  const parsed = parseResolver(resolver);
  if (parsed === undefined) {
    return [{ path, message: 'Give a host name or an address; an IPv6 address with a port in brackets.' }];
  }
  if (parsed.port !== undefined && !RESOLVER_PORTS.has(parsed.port)) {
    return [{ path, message: 'The port of a resolver is 53, 853 or 443.' }];
  }
  const own = isIP(parsed.host);
  if (own === 0 || family === undefined || family === own) return [];
  const message = `must be ${own}, or absent, with the resolver ${parsed.host}: only a name can have another family`;
  return [{ path: '/options/family', message }];
}

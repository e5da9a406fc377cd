import { isIP } from 'node:net';

import type { InputError } from '@vantage/contract';

import { parseResolver } from './resolver.ts';

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

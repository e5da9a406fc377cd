import type { Failure } from '@vantage/contract';
import { isIPv4 } from 'node:net';

import { failure } from './stub-answer.ts';
import type { ResolverAddress } from './stub-transport.ts';

const MISSING: Readonly<Record<string, string>> = {
  EADDRINUSE: 'local port',
  EADDRNOTAVAIL: 'local port',
  EAGAIN: 'port, process or memory',
  EMFILE: 'file descriptor',
  ENFILE: 'file descriptor',
  ENOBUFS: 'buffer space',
  ENOMEM: 'memory',
};

/** Why the probe could not send the query, which says nothing about its resolvers; undefined for another error. */
export function probeShortage(thrown: unknown, { address }: ResolverAddress, name: string): Failure | undefined {
  const code = Error.isError(thrown) && 'code' in thrown ? String(thrown.code) : '';
  // Over IPv6 the reason may be that the probe has no IPv6 address.
  if (code === 'EADDRNOTAVAIL' && !isIPv4(address)) return undefined;
  const missing = Object.hasOwn(MISSING, code) ? MISSING[code] : undefined;
  if (missing === undefined) return undefined;
  return { ...failure(name, 'probe_busy', `was not resolved: the probe has no ${missing} left.`), source: 'probe' };
}

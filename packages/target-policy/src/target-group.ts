import { getDomain } from 'tldts';

import { canonicalizeHost } from './canonical-host.ts';

/**
 * What a host is counted by where the measuring of a target is limited: the registrable domain of a name, as the Public
 * Suffix List has it with its private part; a name that has none, and a literal address, as itself, canonical.
 *
 * @param host as a caller may write it
 */
export function targetGroup(host: string): string {
  const read = canonicalizeHost(host, 'name');
  const text = read.ok ? read.canonical.text : host.toLowerCase();
  if (read.ok && read.canonical.kind !== 'name') return text;
  return (
    getDomain(text, { allowPrivateDomains: true, extractHostname: false, validateHostname: false, detectIp: false }) ??
    text
  );
}

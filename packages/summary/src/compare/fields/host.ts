/**
 * True if two hosts are the same, whatever the spelling: case, encoding and final dot of a name, the form of an address
 * or of a URL, the order of two probes that trace to each other.
 */
export function isSameHost(a: string, b: string): boolean {
  return spelled(a) === spelled(b);
}

function spelled(host: string): string {
  if (host.includes(' ↔ ')) return host.split(' ↔ ').toSorted().join(' ↔ ');
  if (host.includes('://')) return URL.parse(host)?.href ?? host;
  const parsed = URL.parse(`http://${host.includes(':') ? `[${host}]` : host}`);
  return (parsed?.hostname ?? host.toLowerCase()).replace(/\.$/, '');
}

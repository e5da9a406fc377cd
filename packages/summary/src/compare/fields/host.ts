/**
 * True if two hosts are the same, whatever the spelling: case, encoding and final dot of a name, in a URL too, the form
 * of an address or of a URL, its fragment, which no server gets, the order of two probes that trace to each other.
 */
export function isSameHost(a: string, b: string): boolean {
  return spelled(a) === spelled(b);
}

function spelled(host: string): string {
  if (host.includes(' ↔ ')) return host.split(' ↔ ').toSorted().join(' ↔ ');
  if (host.includes('://')) return spelledUrl(host);
  const parsed = URL.parse(`http://${host.includes(':') ? `[${host}]` : host}`);
  return (parsed?.hostname ?? host.toLowerCase()).replace(/\.$/, '');
}

function spelledUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) return text;
  url.hostname = url.hostname.replace(/\.$/, '');
  url.hash = '';
  return url.href;
}

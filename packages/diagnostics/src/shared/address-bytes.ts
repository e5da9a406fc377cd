import { isIPv4, isIPv6, SocketAddress } from 'node:net';

/**
 * The 4 or 16 bytes of an address.
 *
 * @throws RangeError for any other text
 */
export function addressBytes(address: string): Uint8Array {
  if (isIPv4(address)) return Uint8Array.from(address.split('.'), Number);
  if (!isIPv6(address)) throw new RangeError('Not an IP address.');
  const [head = '', tail] = withoutDottedQuad(address).split('::');
  const front = words(head);
  const back = tail === undefined ? [] : words(tail);
  const zeros = tail === undefined ? 0 : 8 - front.length - back.length;
  const all = [...front, ...Array.from({ length: zeros }, () => 0), ...back];
  return Uint8Array.from(all.flatMap((word) => [word >> 8, word & 0xff]));
}

/** The canonical text (RFC 5952 for IPv6) of 4 or 16 bytes. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const words = Array.from({ length: 8 }, (_, index) =>
    ((bytes[index * 2]! << 8) | bytes[index * 2 + 1]!).toString(16),
  );
  return new SocketAddress({ family: 'ipv6', address: words.join(':') }).address;
}

function words(part: string): number[] {
  return part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16));
}

function withoutDottedQuad(address: string): string {
  const start = address.lastIndexOf(':') + 1;
  const quad = address.slice(start);
  if (!isIPv4(quad)) return address;
  const [a = 0, b = 0, c = 0, d = 0] = quad.split('.').map(Number);
  return `${address.slice(0, start)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

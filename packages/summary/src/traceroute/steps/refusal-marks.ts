import { safeText } from '../../words.ts';

/** Annotations of `traceroute` for ICMP errors. */
const marks: ReadonlyMap<string, string> = new Map([
  ['!H', 'the host is unreachable'],
  ['!N', 'the network is unreachable'],
  ['!P', 'the protocol is unreachable'],
  ['!X', 'a filter forbids the traffic'],
  ['!F', 'the packets are too big'],
  ['!S', 'the source route failed'],
  // Sent by a router, this means a packet filter: type 3 code 3, over IPv6 type 1 code 4.
  ['!<3>', 'the port is unreachable'],
  ['!<4>', 'the port is unreachable'],
  ['!V', 'the host is forbidden by precedence'],
  ['!C', 'the precedence is too low'],
]);

/** `the host is unreachable (!H)` */
export function meaningOf(mark: string): string {
  // `!F-1400` has the MTU of the next link.
  const [kind = mark] = mark.split('-');
  return `${marks.get(kind) ?? 'the packets go no further'} (${safeText(mark, 16)})`;
}

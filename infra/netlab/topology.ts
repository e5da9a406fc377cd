/**
 * The network of the lab. Every link has a number N: its networks are 10.200.N.0/24 and fd00:200:N::/64, where the side
 * named first has .1 and the other .2.
 *
 *   probe ─1─ r1 ─2─ r2 ─3─ r3 ─4─ target
 *              ├──5── silent ──6──┤
 *              └──7── second ──8──┘
 */
export const nodes = ['probe', 'r1', 'r2', 'r3', 'target', 'silent', 'second'] as const;

export type NodeName = (typeof nodes)[number];

interface Link {
  readonly number: number;
  readonly sides: readonly [NodeName, NodeName];
  readonly mtu?: number;
}

/** The last link carries less than Ethernet does. */
export const SMALL_MTU = 1_400;

export const links: readonly Link[] = [
  { number: 1, sides: ['probe', 'r1'] },
  { number: 2, sides: ['r1', 'r2'] },
  { number: 3, sides: ['r2', 'r3'] },
  { number: 4, sides: ['r3', 'target'], mtu: SMALL_MTU },
  { number: 5, sides: ['r1', 'silent'] },
  { number: 6, sides: ['silent', 'r3'] },
  { number: 7, sides: ['r1', 'second'] },
  { number: 8, sides: ['second', 'r3'] },
];

export const ipv4 = (network: number, side: 1 | 2 | 99): string => `10.200.${network}.${side}`;
export const ipv6 = (network: number, side: 1 | 2 | 99): string => `fd00:200:${network}::${side}`;

/** Networks with a story of their own, beside those of the links. */
export const networks = {
  /** Refused by r2: administratively prohibited. */
  prohibited: 90,
  /** Refused by r3: no route. Another router than above: each sends few such refusals in a row. */
  unreachable: 91,
  /** Thrown away by r3 without a word. */
  blackHole: 92,
  /** Sent by r3 back to r2, and so on. */
  loop: 93,
  /** On the target, behind the router that never says a word. */
  behindSilent: 94,
  /** On the target, behind r2 and `second` by flow. */
  diamond: 95,
} as const;

/** Routes of each node as `ip route` takes them, for both families; `{n}` is the prefix, `{via N}` the far side of link N. */
export const routes: Readonly<Record<NodeName, readonly string[]>> = {
  probe: ['default {via 1.2}'],
  r1: [
    `{net ${networks.behindSilent}} {via 5.2}`,
    `{net ${networks.diamond}} nexthop {via 2.2} nexthop {via 7.2}`,
    'default {via 2.2}',
  ],
  r2: [`prohibit {net ${networks.prohibited}}`, '{net 1} {via 2.1}', 'default {via 3.2}'],
  r3: [
    `unreachable {net ${networks.unreachable}}`,
    `blackhole {net ${networks.blackHole}}`,
    `{net ${networks.loop}} {via 3.1}`,
    `{net ${networks.behindSilent}} {via 4.2}`,
    `{net ${networks.diamond}} {via 4.2}`,
    'default {via 3.1}',
  ],
  target: ['default {via 4.1}'],
  silent: ['{net 1} {via 5.1}', 'default {via 6.2}'],
  second: ['{net 1} {via 7.1}', 'default {via 8.2}'],
};

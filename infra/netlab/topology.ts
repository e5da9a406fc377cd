/**
 * The network of the lab. Every link has a number N: its networks are 10.200.N.0/24 and fd00:200:N::/64, where the side
 * named first has .1 and the other .2.
 *
 *   probe ─1─ r1 ─2─ r2 ─3─ r3 ─4─ target
 *              ├──5── silent ──6──┤
 *              ├──7── second ──8──┤
 *              ├─11─ limited ─12──┤
 *              └──9═══ far ───10──┘
 *
 * Link 9 is in user space (`link.py`): its treatment of a packet follows from network and number.
 */
export const nodes = ['probe', 'r1', 'r2', 'r3', 'target', 'silent', 'second', 'limited', 'far'] as const;

export type NodeName = (typeof nodes)[number];

interface Link {
  readonly number: number;
  readonly sides: readonly [NodeName, NodeName];
  readonly mtu?: number;
}

/** MTU of the last link, smaller than that of Ethernet. */
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
  { number: 10, sides: ['far', 'r3'] },
  { number: 11, sides: ['r1', 'limited'] },
  { number: 12, sides: ['limited', 'r3'] },
];

export const USER_LINK = { number: 9, sides: ['r1', 'far'] } as const;

/**
 * Last part of an address: 1 or 2 for the sides of a link, 77 for the router that link 9 itself can be, 99 for a host
 * on a node.
 */
type Side = 1 | 2 | 77 | 99;

export const ipv4 = (network: number, side: Side): string => `10.200.${network}.${side}`;
export const ipv6 = (network: number, side: Side): string => `fd00:200:${network}::${side}`;

/** Numbers of further networks, which are not links: one per behavior of the path to them. */
export const networks = {
  /** Refused by r2: administratively prohibited. */
  prohibited: 90,
  /** Refused by r3: no route. Not by r2, because a router sends few refusals of a route in a row. */
  unreachable: 91,
  /** Dropped silently by r3. */
  blackHole: 92,
  /** Sent by r3 back to r2, and so on. */
  loop: 93,
  /** On the target, behind the router that sends no ICMP. */
  behindSilent: 94,
  /** On the target; flows are balanced over r2 and `second`. */
  diamond: 95,
  /** On the target, behind the router with an ICMP rate limit. */
  behindLimited: 96,
  /** On `far`, behind an MPLS router. */
  labelled: 97,
  /** Address of the target that is reached through link 9, with its delay. */
  distant: 98,
  /** Same as `distant`, with a longer delay. */
  remote: 99,
  /** On `far`, one per impairment of link 9. */
  even: 100,
  lossy: 101,
  doubling: 102,
  reordering: 103,
  damaging: 104,
  late: 105,
  /** Same as `distant`; link 9 also loses packets by chance. */
  lossyDistant: 106,
  /** Same as `remote`, with a longer delay. */
  slow: 107,
} as const;

const distantNetworks = [networks.distant, networks.remote, networks.lossyDistant, networks.slow];
const targetNetworks = [networks.behindSilent, networks.diamond, networks.behindLimited, ...distantNetworks];
const farNetworks = [
  networks.labelled,
  networks.even,
  networks.lossy,
  networks.doubling,
  networks.reordering,
  networks.damaging,
  networks.late,
];

/** Networks in which a node has address 99, in addition to the addresses of its links. */
export const hosts: Readonly<Partial<Record<NodeName, readonly number[]>>> = {
  target: targetNetworks,
  far: farNetworks,
};

/**
 * Routes of each node as `ip route` takes them, for both families; `{net N}` is the prefix of network N, `{via N.S}`
 * the address of side S of link N.
 */
export const routes: Readonly<Record<NodeName, readonly string[]>> = {
  probe: ['default {via 1.2}'],
  r1: [
    `{net ${networks.behindSilent}} {via 5.2}`,
    `{net ${networks.diamond}} nexthop {via 2.2} nexthop {via 7.2}`,
    `{net ${networks.behindLimited}} {via 11.2}`,
    ...[...farNetworks, ...distantNetworks].map((network) => `{net ${network}} {via 9.2}`),
    'default {via 2.2}',
  ],
  r2: [`prohibit {net ${networks.prohibited}}`, '{net 1} {via 2.1}', 'default {via 3.2}'],
  r3: [
    `unreachable {net ${networks.unreachable}}`,
    `blackhole {net ${networks.blackHole}}`,
    `{net ${networks.loop}} {via 3.1}`,
    ...targetNetworks.map((network) => `{net ${network}} {via 4.2}`),
    'default {via 3.1}',
  ],
  target: ['default {via 4.1}'],
  silent: ['{net 1} {via 5.1}', 'default {via 6.2}'],
  second: ['{net 1} {via 7.1}', 'default {via 8.2}'],
  limited: ['{net 1} {via 11.1}', 'default {via 12.2}'],
  far: [...distantNetworks.map((network) => `{net ${network}} {via 10.2}`), 'default {via 9.1}'],
};

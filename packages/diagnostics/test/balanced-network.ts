import type { TracePacket } from '../src/types/traceroute/probing/trace.ts';

/** Routers by name, each with its next hops; the last is the target. */
export type Network = Readonly<Record<string, Hop>>;

interface Hop {
  readonly next: readonly string[];
  /** Balances per packet; by default per flow. */
  readonly by?: 'packet';
}

export const FIRST = 'first';
export const TARGET_NAME = 'target';

/** A balancer with paths of these lengths, which end at one router. */
function diamond(from: string, to: string, lengths: readonly number[], by?: 'packet'): Network {
  const name = (way: number, hop: number): string => (hop === lengths[way] ? to : `${from}.${way}.${hop}`);
  const ways = lengths.flatMap((length, way) =>
    Array.from({ length }, (_, hop) => [name(way, hop), { next: [name(way, hop + 1)] }] as const),
  );
  return { [from]: { next: lengths.map((_, way) => name(way, 0)), ...(by && { by }) }, ...Object.fromEntries(ways) };
}

const ways = (count: number, length: number): readonly number[] => Array<number>(count).fill(length);
const chain = (...names: readonly string[]): Network =>
  Object.fromEntries(names.slice(1).map((name, index) => [names[index]!, { next: [name] }]));
const end = chain('end', 'last', TARGET_NAME);

/**
 * Networks whose paths a search must find: 1 to 16 paths, of different lengths, nested, crossed, in series, balanced
 * per packet.
 */
export const networks: Readonly<Record<string, Network>> = {
  straight: chain(FIRST, 'a', 'b', 'end', 'last', TARGET_NAME),
  ...Object.fromEntries(
    [2, 3, 4, 6, 8, 12, 16].map((count) => [`${count} ways`, { ...diamond(FIRST, 'end', ways(count, 1)), ...end }]),
  ),
  '2 long ways': { ...diamond(FIRST, 'end', [2, 2]), ...end },
  '8 long ways': { ...diamond(FIRST, 'end', ways(8, 2)), ...end },
  '16 long ways': { ...diamond(FIRST, 'end', ways(16, 3)), ...end },
  'unequal by 1': { ...diamond(FIRST, 'end', [1, 2]), ...end },
  'unequal by 3': { ...diamond(FIRST, 'end', [1, 4]), ...end },
  'unequal to the target': diamond(FIRST, TARGET_NAME, [1, 3]),
  nested: { ...diamond(FIRST, 'end', [2, 2]), ...diamond(`${FIRST}.0.0`, 'end', [1, 1]), ...end },
  'nested late': { ...diamond(FIRST, 'end', [3, 3]), ...diamond(`${FIRST}.0.1`, 'end', [1, 1]), ...end },
  crossed: {
    [FIRST]: { next: ['a', 'b'] },
    a: { next: ['c', 'd'] },
    b: { next: ['c', 'd'] },
    ...chain('c', 'end'),
    ...chain('d', 'end'),
    ...end,
  },
  'two in a row': { ...diamond(FIRST, 'middle', [1, 1]), ...diamond('middle', 'end', [1, 1]), ...end },
  'by packet, 2 ways': { ...diamond(FIRST, 'end', [1, 1], 'packet'), ...end },
  'by packet, 8 ways': { ...diamond(FIRST, 'end', ways(8, 1), 'packet'), ...end },
  'by packet, 2 long ways': { ...diamond(FIRST, 'end', [2, 2], 'packet'), ...end },
  'by packet, on each way': {
    ...diamond(FIRST, 'end', [2, 2]),
    ...diamond(`${FIRST}.0.0`, 'end', [1, 1], 'packet'),
    ...diamond(`${FIRST}.1.0`, 'end', [1, 1], 'packet'),
    ...end,
  },
  'by packet, on one way': {
    ...diamond(FIRST, 'end', [2, 2]),
    ...diamond(`${FIRST}.0.0`, 'end', [1, 1], 'packet'),
    ...end,
  },
  'by packet, long, on each way': {
    ...diamond(FIRST, 'end', [2, 2]),
    ...diamond(`${FIRST}.0.0`, 'end', [2, 2], 'packet'),
    ...diamond(`${FIRST}.1.0`, 'end', [1, 2], 'packet'),
    ...end,
  },
  'by packet, then by flow': {
    ...diamond(FIRST, 'middle', [1, 1], 'packet'),
    ...diamond('middle', 'end', [1, 1]),
    ...end,
  },
  'by packet, unequal': { ...diamond(FIRST, 'end', [1, 2], 'packet'), ...end },
};

/** Precedes the name of a router that refused a packet. */
const REFUSED = '!';

/**
 * @param refuses whether a router refuses a packet that it is to pass on
 * @returns the name at which a packet ends, after `REFUSED` if the router there refused it: a router's choice is drawn
 * once for a flow, or for each packet if it balances per packet
 */
export function routeOf(
  network: Network,
  random: () => number,
  refuses: (name: string) => boolean = () => false,
): (flow: number, ttl: number) => string {
  const choices = new Map<string, number>();
  return (flow, ttl) => {
    let name = FIRST;
    for (let hop = 1; hop < ttl && name !== TARGET_NAME; hop += 1) {
      if (refuses(name)) return `${REFUSED}${name}`;
      const { next, by } = network[name]!;
      const drawn = Math.floor(random() * next.length);
      const key = `${name} ${flow}`;
      const choice = by === 'packet' ? drawn : (choices.get(key) ?? drawn);
      choices.set(key, choice);
      name = next[choice]!;
    }
    return name;
  };
}

/** Every link of a network that packets can take. */
export function linksOf(network: Network): ReadonlySet<string> {
  const reachable = new Set([FIRST]);
  for (const name of reachable) for (const next of network[name]?.next ?? []) reachable.add(next);
  return new Set([...reachable].flatMap((from) => (network[from]?.next ?? []).map((to) => `${from} ${to}`)));
}

/**
 * The links that packets can prove: in a network with a per-packet balancer, between two hops with several routers
 * each, nothing reveals which leads to which.
 */
export function provableLinks(network: Network): ReadonlySet<string> {
  const hops: ReadonlySet<string>[] = [new Set([FIRST])];
  for (let names = hops[0]!; names.size > 0; hops.push(names)) {
    names = new Set([...names].flatMap((name) => network[name]?.next ?? []));
  }
  const isChance = Object.values(network).some(({ by }) => by === 'packet');
  const isProvable = (link: string): boolean => {
    const [from, to] = link.split(' ');
    return hops.some((names, at) => {
      const beyond = hops[at + 1];
      return names.has(from!) && beyond?.has(to!) === true && (names.size === 1 || beyond.size === 1);
    });
  };
  return new Set([...linksOf(network)].filter((link) => !isChance || isProvable(link)));
}

/** A packet that was answered, or refused, at a name. */
export function answeredPacket(flow: number, ttl: number, index: number, end: string): TracePacket {
  const isRefused = end.startsWith(REFUSED);
  const from = isRefused ? end.slice(REFUSED.length) : end;
  const arrived = from === TARGET_NAME ? 'target' : 'expired';
  const kind = isRefused ? 'refused' : arrived;
  return {
    flow,
    index,
    ttl,
    awaitedMs: 0,
    sentMs: 0,
    isGivenUp: false,
    answer: { from, receivedMs: ttl, clock: 'kernel', kind, error: null, hopLimit: null, rewritten: [] },
  };
}

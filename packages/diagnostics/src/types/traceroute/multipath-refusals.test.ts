import { seeded } from '@vantage/test-support/random/seeded';
import { describe, expect, it } from '@jest/globals';
import { cases } from '@vantage/test-support/random/case-count';

import { FIRST, networks, TARGET_NAME, type Network } from '../../../test/balanced-network.ts';
import { searched } from '../../../test/path-search.ts';
import type { FakeAnswer, FakeSent } from '../../../test/fake-packets.ts';
import { answerOfTarget, expired, router, TARGET, traceOver, unreachable } from '../../../test/trace-network.ts';

const RUNS = cases(3);
/** Least number of runs that find every link. A search may miss one in a twentieth of all runs; chance adds to that. */
const MOST = RUNS - Math.ceil(RUNS / 10);
const PROTOCOLS = ['icmp', 'udp', 'tcp'] as const;
const FORBIDDEN = 13;
const MTU_SEARCH_BYTES = 200;
/** Hop of router 4 in `p – 1 – 2 – {3 | 4 | 5} – 6 – target`. */
const REFUSER_HOP = 3;
const LINKS = ['probe 1', '1 2', '2 3', '2 4', '2 5', '3 6', '4 6', '5 6', '6 target'];
const REFUSER = 4;

type Protocol = (typeof PROTOCOLS)[number];

interface Traced {
  readonly nodes: readonly string[];
  readonly links: readonly string[];
  readonly balancers: readonly string[];
  readonly packets: number;
}

/** Whether router `REFUSER` refuses a packet. `ofFlow` is drawn once for each flow. */
type Refuses = (sent: FakeSent, random: () => number, ofFlow: number) => boolean;

/** Traces over a per-flow balancer with three paths, on one of which a router refuses packets. */
async function traced(protocol: Protocol, seed: number, refuses: Refuses): Promise<Traced> {
  const random = seeded(seed);
  const flows = new Map<number, { readonly way: number; readonly ofFlow: number }>();
  const answer = (sent: FakeSent): readonly FakeAnswer[] => {
    if (sent.packet.length >= MTU_SEARCH_BYTES) return [answerOfTarget(sent)];
    const drawn = flows.get(sent.identifier) ?? { way: 3 + Math.floor(3 * random()), ofFlow: random() };
    flows.set(sent.identifier, drawn);
    const { way, ofFlow } = drawn;
    if (way === REFUSER && sent.ttl >= REFUSER_HOP && refuses(sent, random, ofFlow))
      return [unreachable(sent, FORBIDDEN, router(REFUSER))];
    const number = [1, 2, way, 6][sent.ttl - 1];
    return [number === undefined ? answerOfTarget(sent) : expired(sent, router(number))];
  };
  const { outcome } = await traceOver(answer, { protocol, flows: 'all' }, { inTime: true, budgetMs: 60_000 });
  const { nodes, links, packets } = outcome.multipath!;
  const nameOf = (at: number | null): string => {
    const { ip } = at === null ? { ip: 'probe' } : nodes[at]!;
    return ip === TARGET ? 'target' : (ip?.split('.').at(-1) ?? '*');
  };
  return {
    nodes: nodes.map(({ kind, hop }, at) => `${nameOf(at)} ${kind} ${hop}`),
    links: links.map(({ from, to }) => `${nameOf(from)} ${nameOf(to)}`),
    balancers: nodes.flatMap(({ balances }, at) => (balances === null ? [] : [`${nameOf(at)} ${balances}`])),
    packets,
  };
}

const never: Refuses = () => false;
/** A router that refuses a share of the packets that it is to pass on. */
const beyond =
  (share: number): Refuses =>
  (sent, random) =>
    sent.ttl > REFUSER_HOP && random() < share;
const seeds = Array.from({ length: RUNS }, (_, index) => index + 1);
const mean = (runs: readonly Traced[]): number => runs.reduce((sum, { packets }) => sum + packets, 0) / runs.length;

async function runsOf(protocol: Protocol, refuses: Refuses): Promise<readonly Traced[]> {
  const runs: Traced[] = [];
  for (const seed of seeds) runs.push(await traced(protocol, seed, refuses));
  return runs;
}

describe('a router that refuses some packets and passes others on', () => {
  it.each(PROTOCOLS.flatMap((protocol) => [10, 40, 90].map((percent) => [protocol, percent] as const)))(
    'is neither behind itself nor a balancer: %s, %i %%',
    async (protocol, percent) => {
      const runs = await runsOf(protocol, beyond(percent / 100));

      expect(runs.flatMap(({ links }) => links.filter((link) => !LINKS.includes(link)))).toEqual([]);
      expect(runs.flatMap(({ balancers }) => balancers).filter((one) => one !== '2 flow')).toEqual([]);
      expect(runs.flatMap(({ nodes }) => nodes).filter((one) => one.startsWith('*'))).toEqual([]);
      for (const { nodes } of runs) expect(nodes.filter((one) => one.startsWith(`${REFUSER} `)).length).toBe(1);
      expect(mean(runs)).toBeLessThan(2 * mean(await runsOf(protocol, never)));
      if (percent < 90) {
        expect(runs.filter(({ links }) => links.length === LINKS.length).length).toBeGreaterThanOrEqual(MOST);
      }
    },
  );

  it.each([0.1, 0.4, 0.9])('invents no link in any modelled network, share %d', (share) => {
    const runs = Object.values(networks).flatMap((network) =>
      Array.from({ length: RUNS }, (_, seed) => searched(network, seed, share)),
    );

    // A search misses a per-packet balancer by chance now and then, more often the fewer packets the router passes.
    const most = share < 0.5 ? 0 : Math.floor(RUNS / 10);
    expect(runs.flatMap(({ wrong }) => wrong).length).toBeLessThanOrEqual(most);
  });

  const end = { end: { next: ['last'] }, last: { next: [TARGET_NAME] } };
  const deep = (...names: readonly string[]): Network =>
    Object.fromEntries(names.slice(1).map((name, at) => [names[at]!, { next: [name] }]));
  const unequal = (to: string, short: number, far: number): Network => {
    const [one, two] = [short, far].map((length, way) => Array.from({ length }, (_, hop) => `${way}.${hop}`));
    return { [FIRST]: { next: ['0.0', '1.0'], by: 'packet' }, ...deep(...one!, to), ...deep(...two!, to), ...end };
  };
  it.each<[string, Network, number]>([
    ['1 and 3, draw 29', unequal('end', 1, 3), 29],
    ['1 and 4, draw 3', unequal('end', 1, 4), 3],
    ['2 and 4, draw 3', unequal('end', 2, 4), 3],
    ['1 and 3, to the target, draw 6', unequal(TARGET_NAME, 1, 3), 6],
  ])('invents no link behind a per-packet balancer with ways of the lengths %s', (_lengths, network, seed) => {
    expect(searched(network, seed, 0.9).wrong).toEqual([]);
  });

  // The router behind both paths is at hops 3 and 6: flows of the shorter path are past it at the latter.
  it.each([5, 34, 78])('is before no router that all flows seem to pass, as some are past it, draw %i', (seed) => {
    expect(searched(networks['unequal by 3']!, seed, 0.4).wrong).toEqual([]);
  });

  it.each(PROTOCOLS)('is found where it refuses packets that expire there, too: %s', async (protocol) => {
    const runs = await runsOf(protocol, (_, random) => random() < 0.4);

    expect(runs.flatMap(({ links }) => links.filter((link) => !LINKS.includes(link)))).toEqual([]);
    expect(runs.flatMap(({ balancers }) => balancers).filter((one) => one !== '2 flow')).toEqual([]);
    for (const { nodes } of runs) expect(nodes.filter((one) => one.startsWith(`${REFUSER} `)).length).toBe(1);
  });

  it.each(PROTOCOLS)('is no balancer if it refuses certain flows: %s', async (protocol) => {
    const runs = await runsOf(protocol, ({ ttl }, _, ofFlow) => ttl > REFUSER_HOP && ofFlow < 0.5);

    expect(runs.flatMap(({ links }) => links.filter((link) => !LINKS.includes(link)))).toEqual([]);
    expect(runs.flatMap(({ balancers }) => balancers).filter((one) => one !== '2 flow')).toEqual([]);
  });

  it.each(PROTOCOLS)('is of kind refused if it passes none on: %s', async (protocol) => {
    const runs = await runsOf(protocol, beyond(1));

    const proved = LINKS.filter((link) => !link.startsWith(`${REFUSER} `));
    expect(runs.flatMap(({ links }) => links.filter((link) => !proved.includes(link)))).toEqual([]);
    expect(runs.filter(({ links }) => links.length === proved.length).length).toBeGreaterThanOrEqual(MOST);
    for (const { nodes } of runs) expect(nodes).toContain(`${REFUSER} refused ${REFUSER_HOP}`);
    expect(mean(runs)).toBeLessThan(2 * mean(await runsOf(protocol, never)));
  });
});

import { seeded } from '@vantage/test-support/random/seeded';
import { describe, expect, it } from '@jest/globals';

import { networks, routeOf, TARGET_NAME } from '../../../test/balanced-network.ts';
import type { FakeAnswer, FakeSent } from '../../../test/fake-packets.ts';
import { arrived, expired, router, traceOver, unreachable } from '../../../test/trace-network.ts';
import { multipathLines } from './describe-multipath.ts';

const MTU_SEARCH_BYTES = 200;
const seeds = Array.from({ length: 8 }, (_, index) => index + 1);

/** Numbers of routers from the first hop on; the target follows. */
type Way = readonly number[];

/** Traces over a per-flow balancer with two paths. */
async function tracedOver(
  seed: number,
  ways: readonly [Way, Way],
  answer: (sent: FakeSent, number: number) => readonly FakeAnswer[] | undefined = () => undefined,
) {
  const random = seeded(seed);
  const chosen = new Map<number, Way>();
  const { outcome } = await traceOver(
    (sent) => {
      if (sent.packet.length >= MTU_SEARCH_BYTES) return [arrived(sent)];
      const way = chosen.get(sent.identifier) ?? ways[Math.floor(2 * random())]!;
      chosen.set(sent.identifier, way);
      const number = way[sent.ttl - 1];
      if (number === undefined) return [arrived(sent)];
      return answer(sent, number) ?? [expired(sent, router(number))];
    },
    { flows: 'all' },
    { inTime: true, budgetMs: 30_000 },
  );
  const { nodes, links } = outcome.multipath!;
  return {
    outcome,
    balancers: nodes.flatMap(({ ip, hop, balances }) => (balances === null ? [] : [`${hop} ${ip}`])),
    links: links.map(({ from, to }) => `${from === null ? 'probe' : nodes[from]!.ip} ${nodes[to]!.ip}`),
    nodes,
  };
}

describe('an address that answers at two hops of one way', () => {
  it.each(seeds)('makes no balancer of a router: two hops in a row, draw %i', async (seed) => {
    const { balancers, links, outcome } = await tracedOver(seed, [
      [1, 2, 3, 3, 6],
      [1, 2, 4, 5, 6],
    ]);

    expect(balancers).toEqual([`2 ${router(2)}`]);
    expect(links).toContain(`${router(3)} ${router(3)}`);
    expect(links).not.toContain(`${router(2)} ${router(6)}`);
    expect(outcome).toMatchObject({ reached: true, loop: null, multipath: { complete: true } });
  });

  it.each(seeds)('is no link over the routers between: hops apart, draw %i', async (seed) => {
    const { balancers, nodes } = await tracedOver(seed, [
      [1, 2, 3, 4, 1],
      [1, 2, 5, 6, 1],
    ]);

    expect(balancers).toEqual([`2 ${router(2)}`]);
    expect(nodes.filter(({ ip }) => ip === router(1)).map(({ hop }) => hop)).toEqual([1, 5]);
  });
});

describe('a circle on one of two ways', () => {
  const round = Array.from({ length: 30 }, (_, index) => 3 + (index % 2));

  it.each(seeds)('is proved whichever way the first flow takes, draw %i', async (seed) => {
    const { outcome } = await tracedOver(seed, [
      [1, 2, ...round],
      [1, 2, 5, 6],
    ]);

    expect(outcome).toMatchObject({ reached: true, loop: { start: 3, length: 2 }, multipath: { complete: true } });
    expect(outcome.multipath!.packets).toBeLessThan(80);
  });
});

describe('a circle that leads back to a router before its balancer', () => {
  it.each(seeds.flatMap((seed) => [1, 2, 3].map((back) => [seed, back] as const)))(
    'is proved, draw %i, %i hops back',
    async (seed, back) => {
      const way = [1, 2, 3];
      const circle = [...way.slice(way.length - back), 4];
      const round = Array.from({ length: 30 }, (_, index) => circle[index % circle.length]!);
      const { outcome } = await tracedOver(seed, [
        [...way.slice(0, way.length - back), ...round],
        [...way, 5, 6],
      ]);

      const { nodes, paths, packets } = outcome.multipath!;
      const found = paths.map((path) =>
        path.map((node) => (node === null ? 0 : Number(nodes[node]!.ip!.split('.')[3]))),
      );
      const proved = [...circle, ...circle].join(' ');
      expect(found.filter((path) => path.join(' ').includes(proved)).length).toBeGreaterThanOrEqual(1);
      expect(packets).toBeLessThan(90);
    },
  );
});

describe('a router that refuses packets', () => {
  it.each(seeds)('is one node, and not its own next hop, draw %i', async (seed) => {
    const { nodes, links } = await tracedOver(
      seed,
      [
        [1, 2, 3, 3, 3],
        [1, 2, 4, 5, 6],
      ],
      (sent, number) => (number === 3 && sent.ttl > 3 ? [unreachable(sent, 13, router(3))] : undefined),
    );

    expect(nodes.filter(({ ip }) => ip === router(3)).map(({ hop, kind }) => [hop, kind])).toEqual([[3, 'refused']]);
    expect(links.filter((link) => link.startsWith(`${router(3)} `))).toEqual([]);
  });
});

describe('the result of a search for all paths', () => {
  it.each(seeds)('has no node twice on the path of a flow without a circle, draw %i', async (seed) => {
    const route = routeOf(networks['unequal by 3']!, seeded(seed));
    const names = Object.keys(networks['unequal by 3']!);
    const { outcome } = await traceOver(
      (sent) => {
        if (sent.packet.length >= MTU_SEARCH_BYTES) return [arrived(sent)];
        const name = route(sent.identifier, sent.ttl);
        return name === TARGET_NAME ? [arrived(sent)] : [expired(sent, router(names.indexOf(name) + 1))];
      },
      { flows: 'all' },
      { inTime: true },
    );

    for (const path of outcome.multipath!.paths) {
      const known = path.filter((node) => node !== null);
      expect(known).toEqual([...new Set(known)]);
    }
  });

  it.each(seeds)('knows that routers before a per-packet balancer lead to the target, draw %i', async (seed) => {
    const network = networks['by packet, 2 long ways']!;
    const route = routeOf(network, seeded(seed));
    const names = Object.keys(network);
    const { outcome } = await traceOver(
      (sent) => {
        if (sent.packet.length >= MTU_SEARCH_BYTES) return [arrived(sent)];
        const name = route(sent.identifier, sent.ttl);
        return name === TARGET_NAME ? [arrived(sent)] : [expired(sent, router(names.indexOf(name) + 1))];
      },
      { flows: 'all' },
      { inTime: true },
    );

    const { nodes } = outcome.multipath!;
    expect(nodes[0]).toMatchObject({ hop: 1, reaches: true });
  });

  it('says nothing of packets for links that they cannot be attributed to', async () => {
    const route = routeOf(networks['by packet, 2 long ways']!, seeded(3));
    const names = Object.keys(networks['by packet, 2 long ways']!);
    const { outcome } = await traceOver(
      (sent) => {
        if (sent.packet.length >= MTU_SEARCH_BYTES) return [arrived(sent)];
        const name = route(sent.identifier, sent.ttl);
        if (name === 'first.1.0') return [];
        return name === TARGET_NAME ? [arrived(sent)] : [expired(sent, router(names.indexOf(name) + 1))];
      },
      { flows: 'all' },
      { inTime: true, budgetMs: 30_000 },
    );

    const { links, nodes } = outcome.multipath!;
    const silent = links.filter(({ to }) => nodes[to]!.kind === 'silent');
    for (const { sent } of silent) expect(sent).toBeGreaterThan(0);
    expect(links.some(({ sent }) => sent === 0)).toBe(true);
    expect(multipathLines(outcome.multipath!).filter((line) => line.includes('0 of 0'))).toEqual([]);
  });
});

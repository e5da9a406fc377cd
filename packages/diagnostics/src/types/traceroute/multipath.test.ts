import { seeded } from '@vantage/test-support/random/seeded';
import { describe, expect, it } from '@jest/globals';
import { cases } from '@vantage/test-support/random/case-count';

import { networks, routeOf, TARGET_NAME, type Network } from '../../../test/balanced-network.ts';
import type { FakeAnswer, FakeSent } from '../../../test/fake-packets.ts';
import { searched } from '../../../test/path-search.ts';
import { arrived, expired, ofTrace, path, router, traceOver, unreachable } from '../../../test/trace-network.ts';
import { MAX_MTU_PACKETS, MAX_PACKETS, traceroute } from './contract.ts';
import { stoppingPoint } from './multipath/stopping-points.ts';

const RUNS = cases(3);
const isLarge = (sent: FakeSent): boolean => sent.packet.length >= 200;

/** A network behind the packet sockets: router names become addresses. */
function over(network: Network, lost: (name: string, flow: number) => boolean = () => false) {
  const route = routeOf(network, seeded(7));
  const names = namesOf(network);
  return (sent: FakeSent): readonly FakeAnswer[] => {
    if (isLarge(sent)) return [arrived(sent)];
    const name = route(sent.identifier, sent.ttl);
    if (lost(name, sent.identifier)) return [];
    return name === TARGET_NAME ? [arrived(sent)] : [expired(sent, router(names.indexOf(name) + 1))];
  };
}

function namedIn(network: Network) {
  const names = namesOf(network);
  const at = routeOf(network, seeded(7));
  return { at, routerAt: (name: string): string => router(names.indexOf(name) + 1) };
}

function namesOf(network: Network): readonly string[] {
  return [...new Set(Object.entries(network).flatMap(([name, { next }]) => [name, ...next]))];
}

const all = { flows: 'all' } as const;

describe('the search for all paths', () => {
  it('has the stopping points of Augustin, Friedman and Teixeira', () => {
    const found = Array.from({ length: 16 }, (_, index) => stoppingPoint(index + 1));
    expect(found).toEqual([6, 11, 16, 21, 27, 33, 38, 44, 51, 57, 63, 70, 76, 83, 90, 96]);
  });

  it('finds every link that packets can prove in 95 of 100 runs, and none that does not exist', () => {
    const runs = Object.values(networks).flatMap((network) =>
      Array.from({ length: RUNS }, (_, seed) => searched(network, seed)),
    );
    const complete = runs.filter(({ isComplete }) => isComplete).length;
    expect(complete / runs.length).toBeGreaterThanOrEqual(0.95);
    expect(runs.flatMap(({ wrong }) => wrong)).toEqual([]);
    expect(Math.max(...runs.map(({ packets }) => packets))).toBeLessThan(MAX_PACKETS - MAX_MTU_PACKETS);
  });

  it.each([289, 335, 390, 552])(
    'takes no router behind a per-packet balancer for one that balances itself, draw %i',
    (seed) => {
      expect(searched(networks['by packet, long, on each way']!, seed).wrong).toEqual([]);
    },
  );

  it.each([
    ['flows of a shorter way do not repeat the hops of a longer one', 'unequal by 3', 59],
    ['packets that repeat flows are evidence for two balancers in a row', 'crossed', 87],
  ])('sends few packets: %s', (_reason, name, limit) => {
    const runs = Array.from({ length: cases(30) }, (_, seed) => searched(networks[name]!, seed));
    const packets = runs.reduce((sum, run) => sum + run.packets, 0) / runs.length;

    expect(packets).toBeLessThan(limit);
    expect(runs.filter(({ isComplete }) => isComplete).length / runs.length).toBeGreaterThanOrEqual(0.95);
  });

  it('learns of a per-packet balancer before it asks for further flows', () => {
    const flowsOf = (name: string): number => {
      const runs = Array.from({ length: RUNS }, (_, seed) => searched(networks[name]!, seed));
      return runs.reduce((sum, { flows }) => sum + flows, 0) / RUNS;
    };

    expect(flowsOf('by packet, 8 ways')).toBeLessThan(flowsOf('8 ways') / 2);
  });

  it.each([
    ['2 ways', 'flow'],
    ['16 ways', 'flow'],
    ['2 long ways', 'flow'],
    ['by packet, 2 ways', 'packet'],
    ['by packet, 8 ways', 'packet'],
    ['by packet, unequal', 'packet'],
  ] as const)('tells how the balancer of “%s” chooses: by %s', (name, kind) => {
    const kinds = Array.from({ length: RUNS }, (_, seed) =>
      searched(networks[name]!, seed).graph.nodes.flatMap(({ balances }) => balances ?? []),
    ).flat();
    expect(kinds.filter((found) => found === kind).length).toBeGreaterThanOrEqual(RUNS - 1);
  });

  it.each(['8 long ways', 'unequal by 3', 'nested late'])(
    'takes a route that changes during the search of “%s” for no balancer by packet',
    (name) => {
      const kinds = Array.from({ length: RUNS }, (_, seed) =>
        searched(networks[name]!, seed, 0, 20 + seed).graph.nodes.map(({ balances }) => balances),
      ).flat();
      expect(kinds).toContain('flow');
      expect(kinds).not.toContain('packet');
    },
  );

  it('reports nodes, links with their packets, and the path of each flow', async () => {
    const { outcome, fake } = await traceOver(over(networks['2 ways']!), all, { inTime: true });

    const { multipath } = outcome;
    expect(outcome).toMatchObject({ result: 'success', reached: true, stopReason: 'completed' });
    expect(multipath).toMatchObject({ complete: true, packets: ofTrace(fake).length });
    expect(multipath!.nodes.map(({ hop, kind, balances, reaches }) => [hop, kind, balances, reaches])).toEqual([
      [1, 'router', 'flow', true],
      [2, 'router', null, true],
      [2, 'router', null, true],
      [3, 'router', null, true],
      [4, 'router', null, true],
      [5, 'target', null, true],
    ]);
    const ends = multipath!.links.map(({ from, to }) => `${from ?? 'probe'}-${to}`);
    expect(ends.toSorted()).toEqual(['0-1', '0-2', '1-3', '2-3', '3-4', '4-5', 'probe-0']);
    for (const { sent, received, rttMin } of multipath!.links) {
      expect(received).toBe(sent);
      expect(rttMin).toBeGreaterThan(0);
    }
    expect(new Set(multipath!.paths.flatMap((nodes) => nodes[1] ?? []))).toEqual(new Set([1, 2]));
    expect(multipath!.links.reduce((sum, { sent }) => sum + sent, 0)).toBe(multipath!.packets);
  });

  it('knows the way that leads nowhere', async () => {
    const network = networks['2 long ways']!;
    const isLost = new Set<number>();
    const { outcome } = await traceOver(
      over(network, (name, flow) => {
        if (name === 'first.1.1') isLost.add(flow);
        return isLost.has(flow) && name !== 'first' && name !== 'first.1.0';
      }),
      all,
      { inTime: true },
    );

    const dead = outcome.multipath!.nodes.filter(({ kind, reaches }) => kind === 'router' && !reaches);
    expect(outcome.reached).toBe(true);
    expect(dead.map(({ ip }) => ip)).toEqual([router(namesOf(network).indexOf('first.1.0') + 1)]);
    expect(outcome.fullTtl!.rtts.filter((rtt) => rtt === null).length).toBeGreaterThanOrEqual(6);
  });

  it('searches on behind the balancer if the way of the first flow is refused', async () => {
    const network = networks['2 long ways']!;
    const { at, routerAt } = namedIn(network);
    let refuser: string | undefined;
    const { outcome } = await traceOver(
      (sent) => {
        if (isLarge(sent)) return [arrived(sent)];
        const second = sent.ttl < 2 ? undefined : at(sent.identifier, 2);
        refuser ??= second;
        if (second !== undefined && second === refuser) return [unreachable(sent, 13, routerAt(refuser))];
        const name = at(sent.identifier, sent.ttl);
        return name === TARGET_NAME ? [arrived(sent)] : [expired(sent, routerAt(name))];
      },
      all,
      { inTime: true },
    );

    const { nodes, complete } = outcome.multipath!;
    expect(outcome).toMatchObject({ result: 'success', reached: true, stopReason: 'completed' });
    expect(complete).toBe(true);
    expect(nodes.slice(0, 4).map(({ hop, kind, balances, reaches }) => [hop, kind, balances, reaches])).toEqual([
      [1, 'router', 'flow', true],
      [2, 'refused', null, false],
      [2, 'router', null, true],
      [3, 'router', null, true],
    ]);
    expect(nodes[1]!.ip).toBe(routerAt(refuser!));
    expect(nodes.at(-1)).toMatchObject({ kind: 'target' });
  });

  it('finds the other way if all flows that a single next hop takes go a dead one', async () => {
    const { routerAt } = namedIn(networks['2 long ways']!);
    const known: number[] = [];
    const { outcome, fake } = await traceOver(
      (sent) => {
        const { identifier: flow, ttl } = sent;
        if (isLarge(sent)) return [arrived(sent)];
        if (!known.includes(flow)) known.push(flow);
        if (ttl === 1) return [expired(sent, routerAt('first'))];
        if (known.indexOf(flow) < stoppingPoint(1)) return [];
        const name = ['first.1.0', 'first.1.1', 'end', 'last'][ttl - 2];
        return name === undefined ? [arrived(sent)] : [expired(sent, routerAt(name))];
      },
      all,
      { inTime: true, budgetMs: 30_000 },
    );

    const { nodes, complete } = outcome.multipath!;
    expect(outcome).toMatchObject({ result: 'success', reached: true });
    expect(complete).toBe(true);
    expect(nodes.filter(({ ip }) => ip !== null).map(({ hop, kind }) => [hop, kind])).toEqual([
      ...[1, 2, 3, 4, 5].map((hop) => [hop, 'router']),
      [6, 'target'],
    ]);
    expect(nodes.filter(({ broken }) => broken === true)).toHaveLength(1);
    expect(ofTrace(fake).length).toBeLessThan(150);
  });

  it('links no silence to a router before it that limits its errors', async () => {
    const network = networks['2 long ways']!;
    const { at, routerAt } = namedIn(network);
    let refused = 0;
    const { outcome } = await traceOver(
      (sent) => {
        const { identifier: flow, ttl } = sent;
        if (isLarge(sent)) return [arrived(sent)];
        if (ttl > 1 && at(flow, 2) === 'first.1.0') {
          refused += 1;
          return refused % 4 === 1 ? [unreachable(sent, 1, routerAt('first.1.0'))] : [];
        }
        const name = at(flow, ttl);
        return name === TARGET_NAME ? [arrived(sent)] : [expired(sent, routerAt(name))];
      },
      all,
      { inTime: true },
    );

    const { nodes, links } = outcome.multipath!;
    const refuser = nodes.find(({ kind }) => kind === 'refused')!;
    expect(refuser).toMatchObject({ hop: 2, ip: routerAt('first.1.0') });
    const into = links.filter(({ to }) => nodes[to] === refuser);
    expect(into.map(({ from }) => nodes[from!]!.hop)).toEqual([1]);
    expect(nodes.filter(({ kind, hop }) => kind === 'silent' && hop > 2)).toEqual([]);
  });

  it('has tried as many flows as at any router before it calls a refused path the only one', async () => {
    const { outcome, fake } = await traceOver(
      path(7, (sent) => (sent.ttl >= 4 ? [unreachable(sent, 13, router(4))] : undefined)),
      all,
      { inTime: true },
    );

    const refused = ofTrace(fake).filter(({ ttl }) => ttl === 4);
    expect(outcome).toMatchObject({ result: 'failure', reached: false, multipath: { complete: true } });
    expect(new Set(refused.map(({ identifier }) => identifier)).size).toBe(stoppingPoint(1));
  });

  it('takes silent routers for no end', async () => {
    const { outcome } = await traceOver(
      path(7, ({ ttl }) => (ttl === 3 || ttl === 4 ? [] : undefined)),
      all,
      { inTime: true },
    );

    const { nodes, complete } = outcome.multipath!;
    expect(complete).toBe(true);
    expect(nodes.map(({ hop, kind, reaches }) => [hop, kind, reaches])).toEqual([
      ...[1, 2].map((hop) => [hop, 'router', true]),
      ...[3, 4].map((hop) => [hop, 'silent', true]),
      ...[5, 6].map((hop) => [hop, 'router', true]),
      [7, 'target', true],
    ]);
  });

  it('sends no more packets than any check, and says that they did not suffice', async () => {
    // Each flow passes different routers, so the search would never be complete.
    const { outcome, fake } = await traceOver(
      (sent) => {
        if (isLarge(sent) || sent.ttl > 9) return [arrived(sent, 10)];
        return [expired(sent, sent.ttl === 1 ? router(1) : `203.0.${sent.ttl}.${sent.identifier % 256}`)];
      },
      all,
      { inTime: true },
    );

    expect(fake.sent.length).toBeLessThanOrEqual(MAX_PACKETS);
    expect(outcome.multipath).toMatchObject({ complete: false });
    expect(outcome.reached).toBe(true);
  });

  it('verifies a loss before it is a silent way', async () => {
    let count = 0;
    const { outcome } = await traceOver(
      path(5, (sent) => (!isLarge(sent) && sent.ttl === 3 && (count += 1) % 4 === 0 ? [] : undefined)),
      all,
      { inTime: true },
    );

    const { nodes, links } = outcome.multipath!;
    expect(nodes.every(({ kind }) => kind !== 'silent')).toBe(true);
    const lossy = links.filter(({ sent, received }) => received < sent);
    expect(lossy.map(({ to }) => nodes[to]!.hop)).toEqual([3]);
  });

  it('reaches agents of earlier releases as a number of flows that they can trace', () => {
    const options = { protocol: 'icmp', maxHops: 30, queries: 3, flows: 'all' } as const;
    const job = traceroute.jobParams!({ host: 'example.com', options }) as { options: object };

    expect(job).toEqual({ host: 'example.com', options: { ...options, flows: 7, allFlows: true } });
    expect(traceroute.jobParams!({ host: 'example.com', options: { ...options, flows: 3 } })).toBeNull();
    expect(traceroute.traffic({ host: 'example.com', options }).packets).toBe(MAX_PACKETS);
  });
});

import { seeded } from '@vantage/test-support/random/seeded';
import { describe, expect, it } from '@jest/globals';
import { cases } from '@vantage/test-support/random/case-count';

import { linksOf, networks, routeOf, TARGET_NAME } from '../../../test/balanced-network.ts';
import { type FakeAnswer, type FakeSent } from '../../../test/fake-packets.ts';
import {
  answerOfTarget,
  arrived,
  expired,
  ofTrace,
  path,
  router,
  TARGET,
  traceOver,
} from '../../../test/trace-network.ts';
import { MAX_PACKETS } from './contract.ts';

/** Hop of the target in `p – r1 – {a | b} – r4 – r5 – t`. */
const TARGET_HOP = 5;
const all = { flows: 'all' } as const;
const seeds = Array.from({ length: 3 }, (_, index) => index + 1);

/** A per-flow balancer after hop 1; the first flow goes over router 22. */
function balanced(
  protocol: string,
  seed: number,
  isLost: (sent: FakeSent, isOverSecond: boolean) => boolean,
  targetHop = TARGET_HOP,
) {
  const random = seeded(seed);
  const ways = new Map<number, number>();
  // Linux limits its ICMP errors to one per second, after a burst of six.
  let tokens = 6;
  let sinceMs: number | undefined;
  const isLimited = (): boolean => {
    const nowMs = performance.now();
    tokens = Math.min(6, tokens + (nowMs - (sinceMs ?? nowMs)) / 1_000);
    sinceMs = nowMs;
    if (tokens < 1) return true;
    tokens -= 1;
    return false;
  };
  return (sent: FakeSent): readonly FakeAnswer[] => {
    if (sent.protocol !== protocol) return sent.ttl < targetHop ? [] : [answerOfTarget(sent)];
    const way = ways.get(sent.identifier) ?? (ways.size === 0 ? 22 : 21 + Math.floor(random() * 2));
    ways.set(sent.identifier, way);
    if (isLost(sent, way === 22)) return [];
    if (sent.ttl >= targetHop) return protocol === 'udp' && isLimited() ? [] : [answerOfTarget(sent)];
    return [expired(sent, router(sent.ttl === 2 ? way : sent.ttl), 4 * sent.ttl)];
  };
}

describe.each(['udp', 'tcp'] as const)('the search for all paths over %s whose first flow falls silent', (protocol) => {
  it.each(seeds)('names the broken way, draw %i', async (seed) => {
    const network = balanced(protocol, seed, ({ ttl }, isOverSecond) => isOverSecond && ttl > 2);
    const { outcome, fake } = await traceOver(network, { ...all, protocol }, { inTime: true, budgetMs: 30_000 });

    expect(outcome).toMatchObject({ result: 'success', reached: true, multipath: { complete: true } });
    const { nodes } = outcome.multipath!;
    expect(nodes.flatMap(({ ip, broken }) => (broken === true ? [ip] : []))).toEqual([router(22)]);
    expect(nodes.filter(({ hop, reaches }) => hop === 2 && reaches).map(({ ip }) => ip)).toEqual([router(21)]);
    expect(ofTrace(fake).length).toBeLessThan(150);
  });

  it.each(seeds)('finds the target that drops some source ports, draw %i', async (seed) => {
    const dropped = new Map<number, boolean>();
    const random = seeded(seed + 100);
    const network = balanced(protocol, seed, ({ ttl, identifier }) => {
      const isDropped = dropped.get(identifier) ?? (dropped.size === 0 || random() < 0.5);
      dropped.set(identifier, isDropped);
      return isDropped && ttl >= TARGET_HOP;
    });
    const { outcome } = await traceOver(network, { ...all, protocol }, { inTime: true, budgetMs: 30_000 });

    expect(outcome).toMatchObject({ result: 'success', reached: true, multipath: { complete: true } });
    const found = outcome.multipath!.nodes.filter(({ kind }) => kind === 'router').map(({ ip }) => ip);
    expect(new Set(found)).toEqual(new Set([1, 21, 22, 3, 4].map(router)));
  });

  it('names the broken way of a long path', async () => {
    const network = balanced(protocol, 1, ({ ttl }, isOverSecond) => isOverSecond && ttl > 2, 12);
    const { outcome } = await traceOver(network, { ...all, protocol }, { inTime: true, budgetMs: 30_000 });

    const { nodes, complete } = outcome.multipath!;
    expect(complete).toBe(true);
    expect(nodes.flatMap(({ ip, broken }) => (broken === true ? [ip] : []))).toEqual([router(22)]);
  });

  it('finds the path beyond a silent stretch', async () => {
    const network = (sent: FakeSent): readonly FakeAnswer[] => {
      if (sent.ttl >= 14) return [answerOfTarget(sent)];
      return sent.ttl > 3 && sent.ttl < 12 ? [] : [expired(sent, router(sent.ttl))];
    };
    const { outcome } = await traceOver(network, { ...all, protocol }, { inTime: true, budgetMs: 30_000 });

    expect(outcome).toMatchObject({ result: 'success', reached: true, multipath: { complete: true } });
    expect(outcome.hops!.map(({ hop }) => hop).at(-1)).toBe(14);
  });

  it('asks every hop of a path to a silent target, and the target itself', async () => {
    const { outcome, fake } = await traceOver(
      path(40, ({ ttl }) => (ttl > 3 ? [] : undefined)),
      { ...all, protocol },
      { inTime: true, budgetMs: 30_000 },
    );

    expect(outcome).toMatchObject({
      result: 'timeout',
      reached: false,
      stopReason: 'gap_limit',
      multipath: { complete: true },
    });
    const ttls = new Set(ofTrace(fake).map(({ ttl }) => ttl));
    expect(Array.from({ length: 30 }, (_, index) => ttls.has(index + 1))).not.toContain(false);
    expect(outcome.fullTtl!.rtts.length).toBe(6);
    expect(fake.sent.length).toBeLessThan(MAX_PACKETS / 4);
  });

  it('ends in time if nothing answers', async () => {
    const { outcome, fake } = await traceOver(() => [], { ...all, protocol }, { inTime: true, budgetMs: 30_000 });

    expect(outcome).toMatchObject({ result: 'timeout', reached: false, multipath: { complete: true } });
    expect(new Set(ofTrace(fake).map(({ ttl }) => ttl)).size).toBeGreaterThanOrEqual(30);
  });

  it('finds a target beyond the last hop that it may ask', async () => {
    const network = (sent: FakeSent): readonly FakeAnswer[] =>
      sent.ttl < 9 ? [expired(sent, router(sent.ttl))] : [answerOfTarget(sent)];
    const { outcome } = await traceOver(network, { ...all, protocol, maxHops: 4 }, { inTime: true, budgetMs: 30_000 });

    expect(outcome).toMatchObject({ result: 'success', reached: true, stopReason: 'hop_limit' });
  });
});

describe('a silent router behind a per-packet balancer', () => {
  const draws = Array.from({ length: cases(10) }, (_, index) => index + 1);

  it.each([
    ['by packet, 2 long ways', 'first.0.0'],
    ['by packet, 2 long ways', 'first.1.0'],
    ['by packet, 2 long ways', 'first.0.1'],
    ['by packet, 2 long ways', 'first.1.1'],
    ['by packet, unequal', 'first.0.0'],
    ['by packet, unequal', 'first.1.0'],
    ['by packet, unequal', 'first.1.1'],
    ['by packet, unequal', 'end'],
    ['by packet, unequal', 'last'],
  ])('makes no link between routers around it: %s, %s', async (name, silent) => {
    const network = networks[name]!;
    const names = [...Object.keys(network), TARGET_NAME];
    const addresses = names.map((one, at) => (one === TARGET_NAME ? TARGET : router(at + 1)));
    const nameAt = new Map(addresses.map((address, at) => [address, names[at]!]));
    const exists = linksOf(network);
    const invented: string[] = [];
    for (const draw of draws) {
      const route = routeOf(network, seeded(draw));
      const { outcome } = await traceOver(
        (sent) => {
          if (sent.packet.length >= 200) return [arrived(sent)];
          const at = route(sent.identifier, sent.ttl);
          if (at === silent) return [];
          return at === TARGET_NAME ? [arrived(sent)] : [expired(sent, addresses[names.indexOf(at)]!)];
        },
        all,
        { inTime: true, budgetMs: 44_000 },
      );
      const { nodes, links } = outcome.multipath!;
      const nameOf = (index: number | null): string | undefined => nameAt.get(nodes[index ?? -1]?.ip ?? '');
      const known = links.map(({ from, to }) => [nameOf(from), nameOf(to)]);
      invented.push(...known.filter((link) => !link.includes(undefined) && !exists.has(link.join(' '))).map(String));
    }

    // A search misses a per-packet balancer by chance now and then.
    expect(invented.length).toBeLessThanOrEqual(Math.ceil(draws.length / 10));
  });
});

import { describe, expect, it, jest } from '@jest/globals';
import { cases } from '@vantage/test-support/random/case-count';

import { FIRST, networks, TARGET_NAME, type Network } from '../../../packages/diagnostics/test/balanced-network.ts';
import { traceroute } from '../../../packages/diagnostics/src/types/traceroute/contract.ts';
import { params, TARGET, traceOver } from '../../../packages/diagnostics/test/trace-network.ts';
import { summarize, type ProbeFacts } from '../../../packages/summary/src/index.ts';
import type { Summary } from '../../../packages/contract/src/index.ts';
import { addressOf, impairedNetwork, type Impairments } from './impaired-network.ts';

jest.setTimeout(600_000);

/** Runs of a row that must name something in nearly all of them. */
const RUNS = cases(2);
/** All of a few runs, all but one of many. */
const NEARLY_ALL = RUNS > 2 ? RUNS - 1 : RUNS;
/** Runs of a row that must name nothing in any. */
const FEW = cases(1);
const facts = new Map<string, ProbeFacts>();
const at = '2026-01-01T00:00:00.000Z';

type Options = Parameters<typeof traceOver>[1];

const all = { flows: 'all' } as const;

/** Traces the paths through the network and summarises the result, which hides private addresses. */
async function summaryOver(
  network: Network,
  impairments: Impairments,
  seed: number,
  options: Options = all,
): Promise<Summary> {
  const isPrivateAddress = (address: string): boolean => address.startsWith('10.');
  const hides = { showPrivateAddresses: false, isPrivateAddress };
  const { outcome } = await traceOver(impairedNetwork(network, impairments, seed), options, {
    inTime: true,
    budgetMs: traceroute.budgetMs(params(TARGET, options)),
    ...hides,
  });
  const results = { 'fra-1': { ...outcome, startedAt: at, finishedAt: at } };
  const check = { testId: 'qPUXvL1sQx2rGJm0Zf7N4w', type: 'traceroute', host: 'example.com', createdAt: at };
  return summarize({ ...check, status: 'completed', completedAt: at, results }, facts);
}

async function findingsOver(
  network: Network,
  impairments: Impairments,
  code: string,
  options: Options = all,
  runs: number = RUNS,
): Promise<readonly string[]> {
  return textsOf(await summariesOver(network, impairments, options, runs), code);
}

async function summariesOver(
  network: Network,
  impairments: Impairments,
  options: Options,
  runs: number,
): Promise<readonly Summary[]> {
  const summaries: Summary[] = [];
  for (let seed = 1; seed <= runs; seed += 1) summaries.push(await summaryOver(network, impairments, seed, options));
  return summaries;
}

/** The findings of a code in each run, as one text; empty without one. */
function textsOf(summaries: readonly Summary[], code: string): readonly string[] {
  return summaries.map(({ findings }) =>
    findings
      .filter((one) => one.code === code)
      .map(({ text }) => text)
      .join(' | '),
  );
}

const long = networks['2 long ways']!;
const eight = networks['8 long ways']!;
const byPacket = networks['by packet, 2 long ways']!;
/** Limits of routers before a target that refuses connections: its resets are not limited. */
const ofRouters =
  (burst: number): NonNullable<Impairments['limits']> =>
  (name) =>
    name === TARGET_NAME ? undefined : { burst, perSecond: 1 };
const [asLinux, one] = [ofRouters(6), ofRouters(1)];
const last2 = (name: string): boolean => name === 'end' || name === 'last';

describe('a way behind a balancer that is broken', () => {
  it.each<[string, Network, Impairments, string, string | undefined]>([
    ['passes nothing on', long, { holes: ['first.1.0'] }, FIRST, 'first.1.0'],
    ['passes nothing on from its second router', long, { holes: ['first.1.1'] }, FIRST, 'first.1.1'],
    ['is gone', long, { gone: ['first.1.0'] }, FIRST, undefined],
    ['is one of eight', eight, { holes: ['first.3.1'] }, FIRST, 'first.3.1'],
    ['is nested in another one', networks['nested']!, { holes: ['first.0.0.1.0'] }, 'first.0.0', 'first.0.0.1.0'],
    ['is longer', networks['unequal by 3']!, { holes: ['first.1.2'] }, FIRST, 'first.1.2'],
    ['on a path with loss', long, { holes: ['first.1.0'], loss: () => 0.02 }, FIRST, 'first.1.0'],
    ['behind silent routers', long, { holes: ['first.1.1'], silent: last2 }, FIRST, 'first.1.1'],
    [
      'and routers limit their answers as Linux does',
      eight,
      { holes: ['first.3.0'], limits: asLinux },
      FIRST,
      'first.3.0',
    ],
    ['late, and routers limit their answers so', eight, { holes: ['first.3.1'], limits: asLinux }, FIRST, 'first.3.1'],
    ['and routers answer one packet a second', long, { holes: ['first.1.0'], limits: one }, FIRST, 'first.1.0'],
    ['late, and routers answer one packet a second', long, { holes: ['first.1.1'], limits: one }, FIRST, 'first.1.1'],
  ])('is named with the balancer: it %s', async (_reason, network, impairments, fork, last) => {
    const texts = await findingsOver(network, impairments, 'flows_stop');
    const named = texts.filter((text) => text !== '');

    for (const text of named) {
      expect(text).toContain(`behind hop ${fork === FIRST ? 1 : 2}, ${addressOf(network, fork)} `);
      if (last !== undefined) expect(text).toContain(`${addressOf(network, last)},`);
    }
    expect(named.length).toBeGreaterThanOrEqual(NEARLY_ALL);
  });

  it.each([
    [{ flows: 16, queries: 1 }, 'first.1.0'],
    [{ flows: 16, queries: 1 }, 'first.1.1'],
    [{ flows: 8, queries: 2 }, 'first.0.1'],
  ] as const)('is named by a trace of few packets for each flow: %j, %s', async (options, hole) => {
    const texts = await findingsOver(long, { holes: [hole] }, 'flows_stop', options);
    const named = texts.filter((text) => text !== '');

    for (const text of named)
      expect(text).toContain(
        `Nothing comes back from beyond hop ${hole.endsWith('0') ? 2 : 3}, ${addressOf(long, hole)}`,
      );
    expect(named.length).toBeGreaterThanOrEqual(NEARLY_ALL);
  });

  it('is not laid to a router that its flows do not pass', async () => {
    // All flows probed at the second hop took the other path.
    const { findings } = await summaryOver(long, { holes: ['first.1.0'] }, 60);
    const finding = findings.find(({ code }) => code === 'flows_stop');

    expect(finding?.text).toContain(`behind hop 1, ${addressOf(long, FIRST)} `);
  });

  it.each(['first.0.0', 'first.1.0'])(
    'is named if the target shares its limit of one answer a second with other probes: behind %s',
    async (hole) => {
      const limits: Impairments['limits'] = (name) => (name === TARGET_NAME ? { burst: 6, perSecond: 0.5 } : undefined);
      const texts = await findingsOver(long, { holes: [hole], limits }, 'flows_stop');

      expect(texts.filter((text) => text !== '').length).toBeGreaterThanOrEqual(NEARLY_ALL);
    },
  );

  const second = (name: string): boolean => name.startsWith('first.1.');
  it.each<[string, number | 'all', Impairments, string]>([
    ['the first router', 'all', { refuses: (name) => name === 'first.1.0', hidden: second }, 'hop 1, 203.0.113.1'],
    ['the second router', 'all', { refuses: (name) => name === 'first.1.1', hidden: second }, 'hop 1, 203.0.113.1'],
    [
      'the second router behind a hidden balancer',
      'all',
      { refuses: (name) => name === 'first.1.1', hidden: (name) => name !== TARGET_NAME },
      'hop 1 (a private address)',
    ],
    ['the first router', 16, { refuses: (name) => name === 'first.1.0', hidden: second }, 'hop 1, 203.0.113.1'],
    ['the second router', 16, { refuses: (name) => name === 'first.1.1', hidden: second }, 'hop 1, 203.0.113.1'],
  ])(
    'is named if %s of it refuses packets and its address is hidden (flows: %s)',
    async (_who, flows, faults, fork) => {
      const summaries = await summariesOver(long, faults, { flows }, RUNS);
      const [texts, others] = [textsOf(summaries, 'flows_stop'), textsOf(summaries, 'path_refused')];

      for (const text of texts) {
        expect(text).toMatch(/[Oo]ne of the (2 )?ways .*is broken/);
        expect(text).toContain(`behind ${fork}`);
        expect(text).toContain('a router with a private address');
      }
      expect(others.filter((text) => text !== '')).toEqual([]);
    },
  );

  it.each<[string, number | 'all', Impairments]>([
    ['the last router that answers', 'all', { holes: ['first.1.1'], hidden: second }],
    ['the last router that answers', 16, { holes: ['first.1.1'], hidden: second }],
    ['every router', 'all', { holes: ['first.1.1'], hidden: (name) => name !== TARGET_NAME }],
  ])('is named if the address of %s is hidden (flows: %s)', async (_who, flows, faults) => {
    const texts = await findingsOver(long, faults, 'flows_stop', { flows });

    const named = texts.filter((text) => text.includes('othing comes back from beyond hop 3 (a private address)'));
    expect(named.length).toBeGreaterThanOrEqual(NEARLY_ALL);
    expect(texts.filter((text) => text !== '')).toEqual(named);
  });

  it.each(['all', 16] as const)(
    'is no router with a hidden address that refuses some flows (flows: %s)',
    async (flows) => {
      const faults: Impairments = {
        refuses: (name, flow) => name === 'a' && flow % 2 === 1,
        hidden: (name) => name === 'a',
      };
      // Nothing here is random, so further runs would repeat the first.
      const summaries = await summariesOver(networks['straight']!, faults, { flows }, 1);

      expect(textsOf(summaries, 'flows_stop')).toEqual(['']);
      expect(textsOf(summaries, 'path_refused')).not.toEqual(['']);
    },
  );

  const limit = (of: (name: string) => boolean, burst: number, perSecond: number): Impairments => ({
    limits: (name) => (of(name) ? { burst, perSecond } : undefined),
  });
  it.each<[string, Network, Impairments]>([
    ['nothing is wrong', long, {}],
    ['a tenth of all packets is lost at each hop', long, { loss: () => 0.1 }],
    ['half of all packets is lost before the target', long, { loss: (name) => (name === TARGET_NAME ? 0.5 : 0) }],
    ['half of all packets is lost at the first hop', long, { loss: (name) => (name === FIRST ? 0.5 : 0) }],
    ['one of two ways loses half', long, { loss: (name) => (name === 'first.1.1' ? 0.5 : 0) }],
    ['one of two ways is silent', long, { silent: (name) => name.startsWith('first.1.') }],
    ['one of two ways and the last routers are silent', long, { silent: (n) => n.startsWith('first.1.') || last2(n) }],
    [
      'one of two ways is silent, and half is lost at the target',
      long,
      {
        silent: (name) => name.startsWith('first.1.') || last2(name),
        loss: (name) => (name === TARGET_NAME ? 0.5 : 0),
      },
    ],
    [
      'one of two ways is silent, and most is lost at the target',
      long,
      {
        silent: (name) => name.startsWith('first.1.') || last2(name),
        loss: (name) => (name === TARGET_NAME ? 0.75 : 0),
      },
    ],
    [
      'all routers behind the ways are silent, and the target limits its answers',
      long,
      {
        silent: (name) => last2(name) || name.endsWith('.1'),
        ...limit((name) => name === TARGET_NAME, 3, 1),
      },
    ],
    ['the target answers one packet a second', long, limit((name) => name === TARGET_NAME, 1, 1)],
    [
      'all routers behind the ways limit their answers',
      eight,
      limit((name) => last2(name) || name === TARGET_NAME, 6, 2),
    ],
    ['all nodes limit their answers', eight, limit(() => true, 4, 1)],
    ['all routers answer one packet a second', eight, { limits: one }],
    ['all routers answer one packet a second, and a tenth is lost', long, { limits: one, loss: () => 0.1 }],
    ...['8 long ways', 'by packet, on each way', 'by packet, long, on each way'].map(
      (name): [string, Network, Impairments] => [
        `the routers behind the ways and the target limit their answers hard: ${name}`,
        networks[name]!,
        limit((node) => last2(node) || node === TARGET_NAME, 4, 1),
      ],
    ),
    ['the balancer chooses by packet', byPacket, {}],
    ['a balancer by packet has a broken way', byPacket, { holes: ['first.1.0'] }],
    ['a balancer by packet has a way that is gone', byPacket, { gone: ['first.1.0'] }],
    ['a balancer by packet, and loss', byPacket, { loss: () => 0.2 }],
    ...[10, 20, 30, 40, 60].map((after): [string, Network, Impairments] => [
      `the target goes down after ${after} packets`,
      long,
      { breaks: { after, at: 'last' } },
    ]),
    ...[10, 20, 30, 40, 60].map((after): [string, Network, Impairments] => [
      `the network behind the ways goes down after ${after} packets`,
      eight,
      { breaks: { after, at: 'end' } },
    ]),
    ...[10, 30].map((after): [string, Network, Impairments] => [
      `all flows change their way after ${after} packets`,
      eight,
      { rehashes: after },
    ]),
  ])('is not named if %s, whether addresses are hidden or not', async (_reason, network, impairments) => {
    const texts = await findingsOver(network, impairments, 'flows_stop', all, FEW);
    const hidden = await findingsOver(network, { ...impairments, hidden: () => true }, 'flows_stop', all, FEW);
    const single = await findingsOver(network, impairments, 'flows_stop', { flows: 16, queries: 1 }, FEW);
    const double = await findingsOver(network, impairments, 'flows_stop', { flows: 8, queries: 2 }, FEW);

    expect([...texts, ...hidden, ...single, ...double].filter((text) => text !== '')).toEqual([]);
  });
});

describe('loss on all ways of a search', () => {
  const limitAll = (burst: number, perSecond: number) => () => ({ burst, perSecond });
  const lastOnes = (name: string) => (last2(name) || name === TARGET_NAME ? { burst: 6, perSecond: 2 } : undefined);
  const target = (name: string) => (name === TARGET_NAME ? { burst: 1, perSecond: 1 } : undefined);
  // A low rate, as if other programs used up most of the limit.
  const seldom = (name: string) => (name === TARGET_NAME ? { burst: 1, perSecond: 0.3 } : undefined);

  it('is found where a balancer by packet has a broken way', async () => {
    const texts = await findingsOver(byPacket, { holes: ['first.1.0'] }, 'loss_at_target');
    const limited = await findingsOver(byPacket, { holes: ['first.1.0'] }, 'rate_limited_hop', all, 4 * RUNS);
    expect(limited.filter((text) => text !== '')).toEqual([]);
    const named = texts.filter((text) => text.includes('A limit of few answers a second does not explain that'));

    expect(named.length).toBeGreaterThanOrEqual(0.7 * RUNS);
  });

  it.each<[string, Options]>([
    ['all flows', all],
    ['all flows, udp', { ...all, protocol: 'udp' }],
    ['16 flows', { flows: 16, queries: 1 }],
  ])('makes the check degraded where a balancer by packet has a broken way: %s', async (_name, options) => {
    const verdicts: string[] = [];
    for (let seed = 1; seed <= RUNS; seed += 1) {
      const { verdict } = await summaryOver(byPacket, { holes: ['first.1.0'] }, seed, options);
      verdicts.push(verdict);
    }

    expect(verdicts.filter((verdict) => verdict === 'degraded').length).toBeGreaterThanOrEqual(0.7 * RUNS);
  });

  it.each<[string, Network, Impairments]>([
    ['nothing is lost', byPacket, {}],
    ['all nodes limit their answers as Linux does', byPacket, { limits: limitAll(6, 1) }],
    ['all nodes limit their answers as Linux does, by flow', eight, { limits: limitAll(6, 1) }],
    ['the target answers one packet a second', byPacket, { limits: target }],
    ['the target answers one packet in three seconds', byPacket, { limits: seldom }],
    ['all nodes answer one packet in three seconds', long, { limits: limitAll(1, 0.3) }],
  ])('is not proved if %s', async (_reason, network, impairments) => {
    for (const options of [all, { ...all, protocol: 'udp' } as const, { flows: 16, queries: 1 }]) {
      const { findings } = await summaryOver(network, impairments, 7, options);
      const losses = findings.filter(({ code }) => code === 'loss_at_target' || code === 'path_loss');

      expect({ options, warnings: losses.filter(({ severity }) => severity === 'warning') }).toEqual({
        options,
        warnings: [],
      });
    }
  });

  it('is found where a balancer by packet has a way that is gone', async () => {
    const texts = await findingsOver(byPacket, { gone: ['first.1.0'] }, 'path_loss');

    expect(texts.filter((text) => text !== '').length).toBeGreaterThanOrEqual(RUNS / 2);
  });

  it.each<[string, Network, Impairments]>([
    ['nothing is lost', byPacket, {}],
    ['all nodes limit their answers', eight, { limits: limitAll(4, 1) }],
    ['all nodes limit their answers, by packet', byPacket, { limits: limitAll(6, 2) }],
    ['the last routers and the target limit their answers', byPacket, { limits: lastOnes }],
    ['the target limits its answers', byPacket, { limits: target }],
    ['a way by flow is broken', long, { holes: ['first.1.0'] }],
    ['a way by flow is gone', long, { gone: ['first.1.0'] }],
  ])('is not found if %s', async (_reason, network, impairments) => {
    const texts = await findingsOver(network, impairments, 'path_loss', all, FEW);

    expect(texts.filter((text) => text !== '')).toEqual([]);
  });
});

describe('an outage beyond a balancer', () => {
  const linux: Impairments['limits'] = () => ({ burst: 6, perSecond: 1 });
  it.each<[string, Network, Impairments]>([
    ['both ways pass nothing on', long, { holes: ['first.0.1', 'first.1.1'] }],
    ['the first routers pass nothing on', long, { holes: ['first.0.0', 'first.1.0'] }],
    ['both ways are gone', long, { gone: ['first.0.0', 'first.1.0'] }],
    ['both ways end behind one router', long, { holes: ['end'] }],
    ['the ways have different lengths', networks['unequal by 3']!, { holes: ['first.0.0', 'first.1.2'] }],
    ['one way has another balancer', networks['nested']!, { holes: ['first.1.0', 'first.0.0.0.0', 'first.0.0.1.0'] }],
    ['there are eight ways', eight, { holes: Array.from({ length: 8 }, (_, way) => `first.${way}.1`) }],
    [
      'there are 16 ways',
      networks['16 long ways']!,
      { holes: Array.from({ length: 16 }, (_, way) => `first.${way}.1`) },
    ],
    ['the balancer chooses by packet', byPacket, { holes: ['first.0.0', 'first.1.0'] }],
    ['routers limit their answers', long, { holes: ['first.0.1', 'first.1.1'], limits: linux }],
    [
      'routers of one network lose packets',
      long,
      { holes: ['first.0.1', 'first.1.1'], loss: (name) => (name.startsWith('first.0') ? 0.15 : 0) },
    ],
    ['round trips are long', long, { holes: ['first.0.1', 'first.1.1'], slow: () => 200 }],
  ])('ends as proved silence, well before the deadline: %s', async (_reason, network, impairments) => {
    for (const protocol of ['icmp', 'udp'] as const) {
      for (let seed = 1; seed <= FEW; seed += 1) {
        const { verdict, findings } = await summaryOver(network, { ...impairments, isOut: true }, seed, {
          ...all,
          protocol,
        });

        expect({ seed, verdict, codes: findings.map(({ code }) => code) }).toEqual({
          seed,
          verdict: 'down',
          codes: expect.arrayContaining(['down_everywhere', 'path_stops']),
        });
      }
    }
  });
});

describe('lost packets and limited answers', () => {
  const way = (share: number) => (name: string) => (name.startsWith('first.0') ? share : 0);
  const kinds: readonly (readonly [string, Impairments])[] = [
    ['5 % of the packets of one way are lost', { loss: way(0.05) }],
    ['15 % of the packets of one way are lost', { loss: way(0.15) }],
    ['5 % are lost at each hop', { loss: () => 0.05 }],
    ['all nodes limit their answers as Linux does', { limits: () => ({ burst: 6, perSecond: 1 }) }],
  ];
  const silentOver = async (network: Network, impairments: Impairments, runs: number): Promise<readonly number[]> => {
    const counts: number[] = [];
    for (let seed = 1; seed <= runs; seed += 1) {
      const { paths } = await summaryOver(network, impairments, seed);
      counts.push(paths!.nodes.filter(({ kind }) => kind === 'silent').length);
    }
    return counts;
  };

  it.each(
    ['2 long ways', '4 ways', '8 long ways', 'unequal by 3', 'nested'].flatMap((name) =>
      kinds.map(([reason, impairments]) => [name, reason, impairments] as const),
    ),
  )('are no silent router: %s, %s', async (name, _reason, impairments) => {
    const counts = await silentOver(networks[name]!, impairments, FEW);

    expect(counts.filter((count) => count > 0)).toEqual([]);
  });

  it.each([
    ['16 long ways', 'routers'],
    ['by packet, 2 ways', 'routers'],
    ['by packet, 8 ways', 'all nodes'],
    ['by packet, unequal', 'all nodes'],
    ['by packet, then by flow', 'routers'],
  ])('are no silent router where one router follows on many: %s, as Linux limits them at %s', async (name, who) => {
    const limits = who === 'routers' ? asLinux : () => ({ burst: 6, perSecond: 1 });
    const counts = await silentOver(networks[name]!, { limits }, FEW);

    expect(counts.filter((count) => count > 0)).toEqual([]);
  });

  it('leave no doubt about links behind a balancer by packet where a limit explains all that is lost', async () => {
    const network = networks['by packet, 2 ways']!;
    const linkOf = (from: string, to: string): string => `ip:${addressOf(network, from)} ip:${addressOf(network, to)}`;
    for (let seed = 1; seed <= FEW; seed += 1) {
      const { paths } = await summaryOver(network, { limits: asLinux }, seed);
      const sure = paths!.edges.flatMap(({ from, to, inferred }) => (inferred === true ? [] : [`${from} ${to}`]));

      expect(sure).toContain(linkOf('end', 'last'));
    }
  });

  it('are no silent router where ways of different lengths lead to the one that limits its answers', async () => {
    const limits: Impairments['limits'] = (name) => (name === 'end' ? { burst: 6, perSecond: 1 } : undefined);
    const counts = await silentOver(networks['unequal by 3']!, { limits }, RUNS);

    expect(counts.filter((count) => count > 0)).toEqual([]);
  });

  it.each<[string, Impairments, number]>([
    ['alone', { silent: (name) => name === 'first.0.0' }, 1],
    ['in a row', { silent: (name) => name.startsWith('first.0') }, 2],
    ['with loss', { silent: (name) => name === 'first.0.0', loss: way(0.15) }, 1],
    [
      'with limits',
      {
        silent: (name) => name === 'first.0.0',
        limits: (name) => (name === FIRST ? { burst: 6, perSecond: 1 } : undefined),
      },
      1,
    ],
  ])('hide no router that is silent: %s', async (_reason, impairments, count) => {
    expect(await silentOver(long, impairments, RUNS)).toEqual(Array<number>(RUNS).fill(count));
  });
});

describe('ways on which packets go round in a circle', () => {
  const chain = (...names: readonly string[]): Network =>
    Object.fromEntries(names.slice(1).map((name, index) => [names[index]!, { next: [name] }]));
  const fork = { [FIRST]: { next: ['a', 'b'] } };
  const circle = { ...fork, ...chain('a', 'c', 'a'), ...chain('b', 'd', 'last', TARGET_NAME) };
  const circles = { ...fork, ...chain('a', 'c', 'a'), ...chain('b', 'd', 'b'), ...chain('last', TARGET_NAME) };
  const textOf = (network: Network, ...names: readonly string[]): string =>
    `circle of ${names.map((name) => addressOf(network, name)).join(' and ')}`;

  it.each<[string, Options]>([
    ['all flows', all],
    ['16 flows', { flows: 16 }],
  ])('are named while others reach the target: %s', async (_name, options) => {
    const either = [textOf(circle, 'a', 'c'), textOf(circle, 'c', 'a')];
    const hashes = new Set<string>();
    for (let seed = 1; seed <= 2 * RUNS; seed += 1) {
      const { verdict, findings, paths } = await summaryOver(circle, {}, seed, options);
      const texts = findings.flatMap(({ code, text }) => (code === 'flows_stop' ? [text] : []));
      if (options === all) hashes.add(paths!.canonical!['fra-1']!.hash);

      expect(verdict).toBe('degraded');
      expect(texts).toHaveLength(1);
      expect(either.some((one) => texts[0]!.includes(one))).toBe(true);
    }
    // The hash of the path does not depend on whether the first flow takes the loop.
    expect(hashes.size).toBe(options === all ? 1 : 0);
  });

  it.each<[string, readonly string[]]>([
    ['one hop', ['b']],
    ['two hops', ['a', 'b']],
    ['three hops', [FIRST, 'a', 'b']],
  ])('are named if they lead back to the balancer or a router before it: %s', async (_back, back) => {
    const network = {
      ...chain(FIRST, 'a'),
      ...chain('a', 'b'),
      b: { next: ['c', 'd'] },
      ...chain('c', back[0]!),
      ...chain('d', 'last', TARGET_NAME),
    };
    const addresses = [...back, 'c'].map((name) => addressOf(network, name)).toSorted();
    const texts: string[] = [];
    for (let seed = 1; seed <= 2 * RUNS; seed += 1) {
      const { findings } = await summaryOver(network, {}, seed);
      texts.push(...findings.flatMap(({ code, text }) => (code === 'flows_stop' ? [text] : [])));
    }

    const circle = `${addresses.slice(0, -1).join(', ')} and ${addresses.at(-1)!}`;
    expect(texts).toEqual(
      Array(2 * RUNS).fill(expect.stringContaining(`some flows of fra-1 go round in a circle of ${circle},`)),
    );
  });

  const linux: Impairments['limits'] = () => ({ burst: 6, perSecond: 1 });
  it.each<[string, Options, Impairments]>([
    ['all flows', all, {}],
    ['all flows, limited answers', all, { limits: linux }],
    ['all flows, lost packets', all, { loss: () => 0.03 }],
    ['16 flows', { flows: 16 }, {}],
  ])('are circles of routers that lead to each other: %s', async (_name, options, impairments) => {
    const true4 = ['ac', 'ca', 'bd', 'db'].map(([one, other]) => textOf(circles, one!, other!));
    for (let seed = 1; seed <= RUNS; seed += 1) {
      const { verdict, findings, paths } = await summaryOver(circles, { ...impairments, isOut: true }, seed, options);
      const loop = findings.find(({ code }) => code === 'routing_loop');

      expect(verdict).toBe('down');
      expect(paths!.nodes.filter(({ kind }) => kind === 'silent')).toEqual([]);
      expect(true4.filter((one) => loop?.text.includes(one))).toHaveLength(1);
    }
  });
});

describe('a clean path whose routers and target limit their answers as Linux does', () => {
  const limits = (): { readonly burst: number; readonly perSecond: number } => ({ burst: 6, perSecond: 1 });
  const found = async (network: string, options: Options, slowMs: number): Promise<readonly string[]> => {
    const slow = (name: string): number => (name === 'first.1.0' ? slowMs : 0);
    const codes: string[] = [];
    for (let seed = 1; seed <= FEW; seed += 1) {
      const { findings } = await summaryOver(networks[network]!, { limits, slow }, seed, options);
      codes.push(...findings.map(({ code }) => code));
    }
    return codes.filter((code) => code === 'path_loss' || code === 'flows_stop');
  };

  it.each(
    ['straight', '2 long ways', 'unequal by 3', '8 long ways', 'nested'].flatMap((network) =>
      (['icmp', 'udp'] as const).map((protocol) => ({ network, protocol })),
    ),
  )('has neither loss nor a broken way: %j', async ({ network, protocol }) => {
    // The straight network has a single path, which cannot be slower than another.
    for (const slowMs of network === 'straight' ? [0] : [0, 3, 30]) {
      for (const options of [
        { flows: 16, queries: 1 },
        { flows: 8, queries: 2 },
      ]) {
        expect(await found(network, { ...options, protocol }, slowMs)).toEqual([]);
      }
    }
  });

  it('has no broken way where the first answers of a limited hop are those of one way', async () => {
    // In the 53rd run the first six flows take one path, and get all of the answers.
    const { findings } = await summaryOver(long, { limits }, 53, { flows: 16, queries: 1 });

    expect(findings.map(({ code }) => code)).not.toContain('flows_stop');
  });
});

describe('loss behind a balancer whose ways have different round trips', () => {
  it.each(['2 long ways', '8 long ways'])('is found by a packet of each of 16 flows: %s', async (network) => {
    const slow = (name: string): number => (name === 'first.1.0' ? 3 : 0);
    const loss = (name: string): number => (name === 'end' ? 0.3 : 0);
    const texts = await findingsOver(
      networks[network]!,
      { loss, slow },
      'path_loss',
      { flows: 16, queries: 1 },
      8 * RUNS,
    );

    // Of 200 runs, three quarters named the place of the loss; here half suffices.
    expect(texts.filter((text) => text !== '').length).toBeGreaterThanOrEqual(4 * RUNS);
  });
});

describe('routers that limit their answers as Linux does, before a target that answers everything', () => {
  const limits: Impairments['limits'] = (name) => (name === TARGET_NAME ? undefined : { burst: 6, perSecond: 1 });
  const few = [
    { flows: 16, queries: 1 },
    { flows: 8, queries: 2 },
    { flows: 10, queries: 3 },
  ] as const;

  it.each(
    few.flatMap((options) =>
      [
        ['2 long ways', 'first.1.0'],
        ['2 long ways', 'first.1.1'],
        ['unequal by 3', 'first.1.2'],
      ].map(([network, hole]) => [network!, hole!, options] as const),
    ),
  )('hide no dead way: over %s beyond %s, %j', async (network, hole, options) => {
    const texts = await findingsOver(networks[network]!, { holes: [hole], limits }, 'flows_stop', options);
    const named = texts.filter((text) => text !== '');

    for (const text of named) {
      const router = addressOf(networks[network]!, hole);
      expect(text).toMatch(
        new RegExp(`^Nothing comes back from beyond hop \\d, ${router} for \\d+ of ${options.flows} flows[^|]*$`),
      );
    }
    expect(named.length).toBeGreaterThanOrEqual(NEARLY_ALL);
  });

  it.each(
    few.flatMap((options) => ['straight', '2 long ways', 'nested'].map((network) => [network, options] as const)),
  )('make no way of a clean path dead: over %s, %j', async (network, options) => {
    const texts = await findingsOver(networks[network]!, { limits }, 'flows_stop', options, FEW);

    expect(texts.filter((text) => text !== '')).toEqual([]);
  });
});

describe('flows that die behind a router that all flows pass', () => {
  const straight = networks['straight']!;
  /** A bundle of four links behind the node, one of which is dead. */
  const behind = (dead: string, link = 1): Impairments => ({
    drops: (name, flow) => name === dead && flow % 4 === link,
  });
  const numbered = [
    { flows: 16, queries: 1, protocol: 'udp' },
    { flows: 10, queries: 3, protocol: 'udp' },
    { flows: 8, queries: 2 },
  ] as const;

  it.each(['last', 'b', FIRST].flatMap((dead) => numbered.map((options) => [dead, options] as const)))(
    'are counted, with the router: behind %s, %j',
    async (dead, options) => {
      for (let seed = 1; seed <= RUNS; seed += 1) {
        const { verdict, findings } = await summaryOver(straight, behind(dead, seed % 4), seed, options);
        const texts = findings.flatMap(({ code, text }) => (code === 'flows_stop' ? [text] : []));

        expect(texts).toEqual([expect.stringMatching(/^\d+ of \d+ flows of fra-1 do(es)? not reach the target: /)]);
        expect(texts[0]).toContain(`beyond hop ${['first', 'a', 'b', 'end', 'last'].indexOf(dead) + 1}, `);
        expect(verdict).toBe('degraded');
      }
    },
  );

  it.each(numbered.slice(1))('are counted on a path with loss: %j', async (options) => {
    const faults = { ...behind('last'), loss: (name: string) => (name === 'a' ? 0.02 : 0) };
    const texts = await findingsOver(straight, faults, 'flows_stop', options);

    expect(texts.filter((text) => text !== '').length).toBeGreaterThanOrEqual(RUNS / 2);
  });

  const limit = (of: (name: string) => boolean, burst: number, perSecond: number): Impairments => ({
    limits: (name) => (of(name) ? { burst, perSecond } : undefined),
  });
  const isTarget = (name: string): boolean => name === TARGET_NAME;
  // Without random numbers, more runs would be of no use: `CASES` adds limits instead.
  const isWhole = cases(1) > 1;
  const bursts = isWhole ? [1, 3, 6, 12] : [1, 6];
  const rates = isWhole ? [0.1, 0.3, 1, 3, 10] : [0.1, 1, 10];
  it.each<[string, Network, Impairments]>([
    ['nothing is wrong', straight, {}],
    ['30 % of the packets are lost', straight, { loss: (name) => (name === 'last' ? 0.3 : 0) }],
    ['60 % of the packets are lost', straight, { loss: (name) => (name === 'last' ? 0.6 : 0) }],
    ...bursts.flatMap((burst) =>
      rates.flatMap((perSecond): readonly [string, Network, Impairments][] => [
        [`the target answers ${burst}, then ${perSecond} a second`, straight, limit(isTarget, burst, perSecond)],
        [`all nodes answer ${burst}, then ${perSecond} a second`, straight, limit(() => true, burst, perSecond)],
      ]),
    ),
    [
      'all nodes limit their answers, and 2 % is lost at each hop',
      straight,
      { ...limit(() => true, 6, 1), loss: () => 0.02 },
    ],
    [
      'the target limits its answers, and 30 % is lost',
      straight,
      { ...limit(isTarget, 6, 1), loss: (n) => (n === 'a' ? 0.3 : 0) },
    ],
    [
      'the target answers others too, and some of the packets only',
      straight,
      { ...limit(isTarget, 3, 1), loss: (n) => (n === TARGET_NAME ? 0.5 : 0) },
    ],
    ['a balancer by packet has a broken way', byPacket, { holes: ['first.1.0'] }],
    ['a balancer by packet has a way that is gone', byPacket, { gone: ['first.1.0'] }],
  ])('are none if %s', async (_reason, network, impairments) => {
    // On the straight path only loss is random: without it, further runs would repeat the first.
    const runs = network === straight && impairments.loss === undefined ? 1 : FEW;
    const texts: string[] = [];
    for (const options of numbered) {
      texts.push(...(await findingsOver(network, impairments, 'flows_stop', options, runs)));
    }

    expect(texts.filter((text) => text !== '')).toEqual([]);
  });
});

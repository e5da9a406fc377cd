import { setTimeout } from 'node:timers/promises';

import { afterAll, describe, expect } from '@jest/globals';

import type { Summary } from '../../packages/contract/src/index.ts';
import { itNeeding } from '@vantage/test-support/needs';
import { summarize } from '../../packages/summary/src/index.ts';
import { IP } from './namespaces.ts';
import { netlabMissing } from './netlab.ts';
import { openTestLab, type Ping, type Traceroute } from './test-lab.ts';
import { ipv4, ipv6, networks, SMALL_MTU } from './topology.ts';

const missing = netlabMissing();
const itInNetlab = itNeeding(missing, process.env['CI']);
const lab = missing === null ? await openTestLab() : undefined;
afterAll(() => lab?.close());

const probe = 'lab-1';

async function traced(host: string, options: object = {}): Promise<Summary> {
  return summaryOf('traceroute', host, await lab!.trace(host, options));
}

function summaryOf(type: string, host: string, outcome: Ping | Traceroute): Summary {
  const at = '2026-01-01T00:00:00.000Z';
  const results = { [probe]: { ...outcome, startedAt: at, finishedAt: at } };
  const check = { testId: 'qPUXvL1sQx2rGJm0Zf7N4w', type, host, status: 'completed' as const, createdAt: at };
  return summarize({ ...check, completedAt: at, results }, new Map());
}

function textOf({ findings }: Summary, code: string): string | undefined {
  return findings.find((one) => one.code === code)?.text;
}

function edgesOf({ paths }: Summary): readonly string[] {
  return paths!.edges.map(({ from, to }) => `${from} > ${to}`);
}

/** Commands that add or delete routes of packets to the target, and of the answers to them, through `second`. */
function secondWay(
  verb: 'add' | 'delete',
): readonly (readonly [node: 'r1' | 'r3', program: string, ...args: string[]])[] {
  return [
    ['r1', IP, 'route', verb, `${ipv4(4, 2)}/32`, 'via', ipv4(7, 2)],
    ['r1', IP, '-6', 'route', verb, `${ipv6(4, 2)}/128`, 'via', ipv6(7, 2)],
    ['r3', IP, 'route', verb, `${ipv4(1, 1)}/32`, 'via', ipv4(8, 1)],
    ['r3', IP, '-6', 'route', verb, `${ipv6(1, 1)}/128`, 'via', ipv6(8, 1)],
  ];
}

const [r1, r2, r3] = [ipv4(1, 2), ipv4(2, 2), ipv4(3, 2)];

describe('the summary of a network whose truth is known', () => {
  itInNetlab('takes a router that limits its answers for no loss', async () => {
    const host = ipv4(networks.behindLimited, 99);
    const outcome = await lab!.trace(host, { queries: 10 });
    const summary = summaryOf('traceroute', host, outcome);

    expect(summary.verdict).toBe('up');
    // The router sends six replies at once, then one per second.
    const isLimited = outcome.hops?.[1]?.rtts.includes(null) === true;
    expect(textOf(summary, 'rate_limited_hop')?.includes(`hop 2, ${ipv4(11, 2)}`) ?? false).toBe(isLimited);
    expect(summary.findings.map(({ code }) => code)).not.toContain('path_loss');
  });

  itInNetlab('has a place for a router that never says a word', async () => {
    const target = ipv4(networks.behindSilent, 99);
    const silent = `silent:ip:${r1}|ip:${r3}|1/1`;

    const summary = await traced(target);

    expect(summary.verdict).toBe('up');
    expect(edgesOf(summary)).toEqual([
      `probe:${probe} > ip:${r1}`,
      `ip:${r1} > ${silent}`,
      `${silent} > ip:${r3}`,
      `ip:${r3} > ip:${target}`,
    ]);
  });

  itInNetlab('has both routers of a path that is balanced over two', async () => {
    const { paths } = await traced(ipv4(networks.diamond, 99), { protocol: 'udp', flows: 16, queries: 1 });

    const second = paths!.nodes.filter(({ hopMin }) => hopMin === 2).map(({ ip }) => ip);
    expect(second).toEqual([r2, ipv4(7, 2)]);
  });

  itInNetlab('has the change of a route between two rounds, and none over a load balancer', async () => {
    const rounds = 24;
    const targets = [ipv4(4, 2), ipv6(4, 2), ipv4(networks.diamond, 99), ipv6(networks.diamond, 99)];
    const summaries = Promise.all(targets.map((target) => traced(target, { rounds, protocol: 'udp' })));
    await setTimeout((rounds / 2) * 1_000);
    for (const command of secondWay('add')) await lab!.run(...command);
    const [v4, v6, ...balanced] = await summaries;
    for (const command of secondWay('delete')) await lab!.run(...command);

    expect(textOf(v4!, 'path_changed')).toContain(`hop 2 answered as ${r2} before and as ${ipv4(7, 2)} after.`);
    expect(textOf(v6!, 'path_changed')).toContain(`hop 2 answered as ${ipv6(2, 2)} before and as ${ipv6(7, 2)} after.`);
    for (const { verdict, findings } of [v4!, v6!]) {
      expect(verdict).toBe('up');
      expect(findings.map(({ code }) => code)).not.toContain('rate_limited_hop');
    }
    for (const summary of balanced) {
      expect(textOf(summary, 'path_changed')).toBeUndefined();
      expect(textOf(summary, 'hop_changed')).toBeUndefined();
    }
  });

  itInNetlab('names no other path if only the way back of a router changed', async () => {
    const rounds = 40;
    const wayBack = (verb: 'add' | 'delete'): ReturnType<typeof secondWay> =>
      secondWay(verb).filter(([node]) => node === 'r3');
    const summaries = Promise.all([ipv4(4, 2), ipv6(4, 2)].map((host) => traced(host, { rounds, protocol: 'udp' })));
    await setTimeout((rounds / 2) * 1_000);
    for (const command of wayBack('add')) await lab!.run(...command);
    const [v4, v6] = await summaries;
    for (const command of wayBack('delete')) await lab!.run(...command);

    for (const summary of [v4!, v6!]) expect(textOf(summary, 'path_changed')).toBeUndefined();
    // Over IPv6 Linux answers from the address of the interface at which the packet arrived.
    expect(textOf(v4!, 'hop_changed')).toContain(`Hop 3 answered ${probe} as ${r3} at first and as ${ipv4(8, 2)} from`);
  });

  itInNetlab(
    'has a target that stops answering during the rounds, refused or silent, and one that comes back',
    async () => {
      const rounds = 14;
      const refused = [ipv4(4, 2), ipv6(4, 2)].flatMap((host) =>
        (['icmp', 'udp', 'tcp'] as const).map((protocol) => traced(host, { rounds, protocol })),
      );
      const silent = [networks.distant, networks.remote].flatMap((network) =>
        [ipv4(network, 99), ipv6(network, 99)].map((host) => traced(host, { rounds })),
      );
      await setTimeout(5_000);
      const change = (verb: 'add' | 'delete', kind: string, network: number) =>
        Promise.all([
          lab!.run('r3', IP, 'route', verb, kind, `${network === 4 ? ipv4(4, 2) : ipv4(network, 99)}/32`),
          lab!.run('r3', IP, '-6', 'route', verb, kind, `${network === 4 ? ipv6(4, 2) : ipv6(network, 99)}/128`),
        ]);
      await change('add', 'unreachable', 4);
      await change('add', 'blackhole', networks.distant);
      await change('add', 'unreachable', networks.remote);
      await setTimeout(4_000);
      await change('delete', 'unreachable', networks.remote);
      const [ofRefused, ofOthers] = await Promise.all([Promise.all(refused), Promise.all(silent)]);
      await change('delete', 'unreachable', 4);
      await change('delete', 'blackhole', networks.distant);

      for (const summary of ofRefused) {
        expect(summary.verdict).toBe('degraded');
        expect(summary.headline).toContain(', but not to the end: it answered none of the last ');
        expect(textOf(summary, 'target_stops')).toMatch(/, and hop 3, \S+ said that the (host|network) is unreachable/);
        expect(textOf(summary, 'loss_at_target')).toBeUndefined();
      }
      const [silent4, silent6, back4, back6] = ofOthers;
      for (const summary of [silent4!, silent6!]) {
        expect(summary.verdict).toBe('degraded');
        expect(textOf(summary, 'target_stops')).toContain('; the last hop that still answered is hop 2, ');
      }
      for (const summary of [back4!, back6!]) {
        expect(textOf(summary, 'target_stops')).toBeUndefined();
        expect(textOf(summary, 'path_refused')).toMatch(/unreachable \(!\w\) to .*Others passed it\.$/);
      }
    },
  );

  itInNetlab('has a path that becomes shorter, or longer, between two rounds', async () => {
    const own = (verb: 'add' | 'delete'): readonly Promise<unknown>[] => [
      lab!.run('r3', IP, 'address', verb, `${ipv4(4, 2)}/32`, 'dev', 'lo'),
      lab!.run('r3', IP, '-6', 'address', verb, `${ipv6(4, 2)}/128`, 'dev', 'lo'),
    ];
    const rounds = 14;
    const both = (): Promise<readonly Summary[]> =>
      Promise.all(
        (['icmp', 'udp', 'tcp'] as const).flatMap((protocol) =>
          [ipv4(4, 2), ipv6(4, 2)].map((host) => traced(host, { rounds, protocol })),
        ),
      );
    const shorter = both();
    await setTimeout((rounds / 2) * 1_000);
    await Promise.all(own('add'));
    const ofShorter = await shorter;
    const longer = both();
    await setTimeout((rounds / 2) * 1_000);
    await Promise.all(own('delete'));

    for (const summary of ofShorter) {
      expect(summary.verdict).toBe('up');
      expect(textOf(summary, 'path_lengths')).toMatch(/ at hop 4, and from about round \d+ of 14 on at hop 3: /);
    }
    for (const summary of await longer) {
      expect(summary.verdict).toBe('up');
      expect(textOf(summary, 'path_lengths')).toMatch(/ at hop 3, and from about round \d+ of 14 on at hop 4: /);
    }
  });

  itInNetlab('ends the path of packets that are too big at the router that refuses them', async () => {
    for (const [target, router] of [
      [ipv4(4, 2), ipv4(3, 2)],
      [ipv6(4, 2), ipv6(3, 2)],
    ] as const) {
      // The first trace only informs the kernel of the probe about the path MTU; the second one is examined.
      await lab!.trace(target, { size: SMALL_MTU + 50 });
      const outcome = await lab!.trace(target, { size: SMALL_MTU + 50 });
      const summary = summaryOf('traceroute', target, outcome);

      expect(outcome.hops?.map(({ ip }) => ip).at(0)).toBe(target === ipv4(4, 2) ? r1 : ipv6(1, 2));
      expect(summary.verdict).toBe('unknown');
      expect(summary.headline).toContain(`packets of ${SMALL_MTU + 50} bytes are too big for the path`);
      expect(textOf(summary, 'path_refused')).toContain(
        `A router said that the packets are too big (!F-${SMALL_MTU}) to packets of ${probe}: hop 3, ${router}.`,
      );
      expect(summary.paths?.ends).toEqual([{ node: `ip:${router}`, reason: 'refused', probes: [probe] }]);
      expect(edgesOf(summary).at(-1)).toMatch(new RegExp(`> ip:${router}$`));
      expect(summary.paths?.canonical?.[probe]?.hops.slice(2)).toEqual([[router]]);
    }
  });

  itInNetlab('names the routers of a circle', async () => {
    const summary = await traced(ipv4(networks.loop, 1));

    expect(summary.verdict).toBe('down');
    expect(textOf(summary, 'routing_loop')).toContain(`a circle of ${r2} and ${r3}`);
    expect(summary.paths?.ends).toEqual([{ node: `ip:${r2}`, reason: 'loop', probes: [probe] }]);
  });

  itInNetlab('says where a path goes silent, and where it is refused', async () => {
    const silent = await traced(ipv4(networks.blackHole, 1));
    const refused = await traced(ipv4(networks.prohibited, 1));

    expect(textOf(silent, 'path_stops')).toContain(`Nothing answers beyond hop 2, ${r2}`);
    expect(silent.paths?.ends).toEqual([{ node: `ip:${r2}`, reason: 'silent', probes: [probe] }]);
    expect(textOf(refused, 'path_refused')).toContain(
      `a filter forbids the traffic (!X) to packets of ${probe}: hop 2, ${r2}`,
    );
    expect(refused.paths?.ends).toEqual([{ node: `ip:${r2}`, reason: 'refused', probes: [probe] }]);
  });

  itInNetlab('counts the packets that are lost', async () => {
    const target = ipv4(networks.lossy, 99);

    const summary = summaryOf('ping', target, await lab!.ping(target, { count: 5, interval: 200 }));

    expect(summary.verdict).toBe('degraded');
    expect(textOf(summary, 'packet_loss')).toContain(
      `Packets got no answer: ${probe} 40 % (2 of 5). They are lost, or `,
    );
  });
});

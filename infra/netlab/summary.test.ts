import { afterAll, describe, expect } from '@jest/globals';

import type { Summary } from '../../packages/contract/src/index.ts';
import { itNeeding } from '@vantage/test-support/needs';
import { summarize } from '../../packages/summary/src/index.ts';
import { sentRounds, type SentRounds } from './check-runner.ts';
import { IP } from './namespaces.ts';
import { netlabMissing } from './netlab.ts';
import { openTestLab, type Ping, type Traceroute } from './test-lab.ts';
import { ipv4, ipv6, networks, SMALL_MTU, type NodeName } from './topology.ts';

const missing = netlabMissing();
// The cases mostly wait for rounds and for silence: each has its own addresses, and all run at the same time.
const itInNetlab = itNeeding(missing, process.env['CI'], 'concurrent');
const lab = missing === null ? await openTestLab() : undefined;
afterAll(() => lab?.close());

const probe = 'lab-1';

async function traced(host: string, options: object = {}, sent?: SentRounds): Promise<Summary> {
  const manner = sent === undefined ? {} : { onRounds: sent.ofTrace() };
  return summaryOf('traceroute', host, await lab!.trace(host, options, manner));
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

/** Address of a case in a network of the lab: on the target, or on the probe, from which it traces to the former. */
const own = {
  4: (network: number, part: number) => `10.200.${network}.${part}`,
  6: (network: number, part: number) => `fd00:200:${network}::${part}`,
};
const familyFlag = { 4: '-4', 6: '-6' } as const;
const both = [4, 6] as const;

/** Runs commands of `ip` in nodes of the lab: `r1 -4 route add …`. Nodes do so at the same time. */
async function change(...commands: readonly string[]): Promise<void> {
  const ofNodes = Map.groupBy(commands, (command) => command.split(' ', 1)[0]!);
  const runs = [...ofNodes].map(([node, lines]) => {
    const script = lines.map((line) => `${IP} ${line.slice(node.length + 1)}`).join('\n');
    return lab!.run(node as NodeName, 'sh', '-ec', script);
  });
  for (const run of runs) expect(await run).toMatchObject({ status: 0, stderr: '' });
}

/**
 * Gives the target an address for one case in each of some networks, and the probe one from which it traces there, so
 * that routes can change for this case alone.
 *
 * @param part last part of the addresses
 * @param at networks, which are routed to the target
 */
async function addPlace(part: number, ...at: readonly number[]): Promise<void> {
  for (const family of both) {
    const bits = family === 4 ? 32 : 128;
    const nodad = family === 6 ? ' nodad' : '';
    const source = own[family](1, part);
    await change(`probe address add ${source}/${bits} dev to0a${nodad}`);
    for (const network of at) {
      const target = own[family](network, part);
      await change(
        `target address add ${target}/${bits} dev to3b${nodad}`,
        `probe ${familyFlag[family]} route add ${target}/${bits} via ${own[family](1, 2)} src ${source}`,
        `r3 ${familyFlag[family]} route replace ${source}/${bits} via ${own[family](3, 1)}`,
      );
    }
  }
}

/** Sends answers of r3 to the probe's address of a case through `second`. */
const otherWayBack = (part: number): readonly string[] =>
  both.map((family) => `r3 ${familyFlag[family]} route replace ${own[family](1, part)} via ${own[family](8, 1)}`);

/** Sends packets to the target's address of a case through `second`, and the answers to them. */
const otherWay = (part: number): readonly string[] => [
  ...both.map((family) => `r1 ${familyFlag[family]} route add ${own[family](4, part)} via ${own[family](7, 2)}`),
  ...otherWayBack(part),
];

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
    const [part, rounds] = [11, 24];
    await addPlace(part, 4, networks.diamond);
    const targets = [4, networks.diamond].flatMap((network) => both.map((family) => own[family](network, part)));
    const sent = sentRounds();
    const summaries = Promise.all(targets.map((target) => traced(target, { rounds, protocol: 'udp' }, sent)));
    await Promise.race([sent.reach(rounds / 2), summaries]);
    await change(...otherWay(part));
    const [v4, v6, ...balanced] = await summaries;

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
    // One hop alone proves a change from 30 rounds on.
    const [part, rounds] = [12, 36];
    await addPlace(part, 4);
    const sent = sentRounds();
    const summaries = Promise.all(
      both.map((family) => traced(own[family](4, part), { rounds, protocol: 'udp' }, sent)),
    );
    await Promise.race([sent.reach(rounds / 2), summaries]);
    await change(...otherWayBack(part));
    const [v4, v6] = await summaries;

    for (const summary of [v4!, v6!]) expect(textOf(summary, 'path_changed')).toBeUndefined();
    // Over IPv6 Linux answers from the address of the interface at which the packet arrived.
    expect(textOf(v4!, 'hop_changed')).toContain(`Hop 3 answered ${probe} as ${r3} at first and as ${ipv4(8, 2)} from`);
  });

  itInNetlab(
    'has a target that stops answering during the rounds, refused or silent, and one that comes back',
    async () => {
      // A router sends few refusals of a route in a row to one address: those of the last target go to another one.
      const [part, other] = [13, 16];
      await addPlace(part, 4, networks.distant);
      await addPlace(other, networks.remote);
      const routes = (verb: 'add' | 'delete', kind: string, network: number, of = part): readonly string[] =>
        both.map((family) => `r3 ${familyFlag[family]} route ${verb} ${kind} ${own[family](network, of)}`);
      const rounds = 14;
      const sent = sentRounds();
      const refused = both.flatMap((family) =>
        (['icmp', 'udp', 'tcp'] as const).map((protocol) => traced(own[family](4, part), { rounds, protocol }, sent)),
      );
      const others = [
        [networks.distant, part],
        [networks.remote, other],
      ].flatMap(([network, of]) => both.map((family) => traced(own[family](network!, of!), { rounds }, sent)));
      const summaries = Promise.all([Promise.all(refused), Promise.all(others)]);
      await Promise.race([sent.reach(4), summaries]);
      await change(
        ...routes('add', 'unreachable', 4),
        ...routes('add', 'blackhole', networks.distant),
        ...routes('add', 'unreachable', networks.remote, other),
      );
      await Promise.race([sent.reach(9), summaries]);
      await change(...routes('delete', 'unreachable', networks.remote, other));
      const [ofRefused, ofOthers] = await summaries;

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

  for (const [how, part, verb, hops] of [
    ['shorter', 14, 'add', [4, 3]],
    ['longer', 15, 'delete', [3, 4]],
  ] as const) {
    itInNetlab(`has a path that becomes ${how} between two rounds`, async () => {
      const rounds = 14;
      const atRouter = (what: 'add' | 'delete'): readonly string[] =>
        both.map((family) => `r3 address ${what} ${own[family](4, part)}/${family === 4 ? 32 : 128} dev lo`);
      await addPlace(part, 4);
      if (verb === 'delete') await change(...atRouter('add'));
      const sent = sentRounds();
      const summaries = Promise.all(
        (['icmp', 'udp', 'tcp'] as const).flatMap((protocol) =>
          both.map((family) => traced(own[family](4, part), { rounds, protocol }, sent)),
        ),
      );
      await Promise.race([sent.reach(rounds / 2), summaries]);
      await change(...atRouter(verb));

      for (const summary of await summaries) {
        expect(summary.verdict).toBe('up');
        expect(textOf(summary, 'path_lengths')).toMatch(
          new RegExp(` at hop ${hops[0]}, and from about round \\d+ of 14 on at hop ${hops[1]}: `),
        );
      }
    });
  }

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

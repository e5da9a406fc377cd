import { execFileSync, spawn } from 'node:child_process';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { itNeeding } from '@vantage/test-support/needs';

import type { Summary } from '../../packages/contract/src/index.ts';
import { summarize } from '../../packages/summary/src/index.ts';
import { startCheckRunner } from './check-runner.ts';
import { configure, IP, removeNamespaces, removeOrphans, writeSettings } from './namespaces.ts';
import { netlabMissing } from './netlab.ts';

const missing = netlabMissing();
const itInNetlab = itNeeding(missing, process.env['CI']);
const PREFIX = 'vantage-ways';
const named = (node: string): string => `${PREFIX}-${process.pid}-${node}`;

/**
 * `fra - r1 - r2 - r4 - nyc`, and between r1 and r4 also r3, r6 and r5. The addresses of a link's two nodes end in 1
 * and 2, in this order.
 */
const links = ['fra r1', 'r1 r2', 'r2 r4', 'r1 r3', 'r3 r6', 'r5 r4', 'r4 nyc', 'r6 r5'].map((text) => text.split(' '));
const address = (link: number, end: number): string => `10.61.${link}.${end}`;
const [fra, nyc] = [address(0, 1), address(6, 2)];
const nodes = [...new Set(links.flat())];

/** Routes a target from a node over a next hop: a link and the end of it, 1 or 2. */
function route(node: string, target: string, [link, end]: readonly [number, number]): void {
  configure(named(node), [`route replace ${target} via ${address(link, end)}`]);
}

function build(): void {
  for (const node of nodes) {
    configure(undefined, [`netns add ${named(node)}`]);
    configure(named(node), ['link set lo up']);
    writeSettings(named(node), {
      'ipv4/ip_forward': 1,
      'ipv4/conf/all/rp_filter': 0,
      'ipv4/conf/default/rp_filter': 0,
      'ipv4/icmp_ratelimit': 0,
    });
  }
  for (const [index, [a = '', b = '']] of links.entries()) {
    const [ofA, ofB] = [`l${index}a`, `l${index}b`];
    configure(named(a), [`link add ${ofA} type veth peer name ${ofB} netns ${named(b)}`]);
    for (const [node, name, end] of [
      [a, ofA, 1],
      [b, ofB, 2],
    ] as const) {
      configure(named(node), [`address add ${address(index, end)}/24 dev ${name}`, `link set ${name} up`]);
    }
  }
  route('fra', 'default', [0, 2]);
  route('nyc', 'default', [6, 1]);
  // To nyc over r2; back over r2, until a test sends it over r5, r6 and r3.
  route('r1', '10.61.6.0/24', [1, 2]);
  route('r2', '10.61.6.0/24', [2, 2]);
  route('r2', '10.61.0.0/24', [1, 1]);
  route('r4', '10.61.0.0/24', [2, 1]);
  route('r5', '10.61.0.0/24', [7, 1]);
  route('r6', '10.61.0.0/24', [4, 1]);
  route('r3', '10.61.0.0/24', [3, 1]);
  // Routes for the routers of the other way back, so that their answers reach both ends.
  route('r3', '10.61.6.0/24', [4, 2]);
  route('r6', '10.61.6.0/24', [7, 2]);
  route('r5', '10.61.6.0/24', [5, 2]);
}

const start =
  (node: string): Parameters<typeof startCheckRunner>[0]['start'] =>
  (_node, command, ...args) =>
    spawn(IP, ['netns', 'exec', named(node), command, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });

let runners: readonly ReturnType<typeof startCheckRunner>[] = [];

beforeAll(() => {
  if (missing !== null) return;
  removeOrphans(PREFIX);
  build();
  runners = ['fra', 'nyc'].map((node) => startCheckRunner({ start: start(node) }));
});

afterAll(async () => {
  await Promise.all(runners.map((runner) => runner.stop()));
  if (missing === null) removeNamespaces((name) => name.startsWith(`${PREFIX}-${process.pid}-`));
});

async function bothWays(): Promise<Summary> {
  const order = { type: 'traceroute', options: {}, hide: false, partials: false, nameServer: null } as const;
  const [there, back] = await Promise.all([
    runners[0]!.run({ ...order, host: nyc }),
    runners[1]!.run({ ...order, host: fra }),
  ]);
  const at = '2026-01-01T00:00:00.000Z';
  const final = (outcome: object) => ({ ...outcome, startedAt: at, finishedAt: at }) as never;
  return summarize(
    {
      testId: 'qPUXvL1sQx2rGJm0Zf7N4w',
      type: 'traceroute',
      host: 'fra-1 ↔ nyc-1',
      between: ['fra-1', 'nyc-1'],
      status: 'completed',
      createdAt: at,
      completedAt: at,
      results: { 'fra-1': final(there.outcome), 'nyc-1': final(back.outcome) },
    },
    new Map(),
  );
}

const textsOf = ({ findings }: Summary): Readonly<Record<string, string>> =>
  Object.fromEntries(findings.map(({ code, text }) => [code, text]));

/** The path as an independent program sees it: the addresses of `traceroute`. */
function traceroute(node: string, target: string): readonly string[] {
  const args = ['netns', 'exec', named(node), 'traceroute', '-n', '-I', '-q', '1', '-w', '2', target];
  const text = execFileSync(IP, args, { encoding: 'utf8' });
  return [...text.matchAll(/^ *\d+ {2}(\S+)/gm)].map(([, found]) => found!);
}

describe('two probes that trace to each other', () => {
  itInNetlab('have one way, though no address is seen from both sides', async () => {
    expect(traceroute('fra', nyc)).toEqual([address(0, 2), address(1, 2), address(2, 2), nyc]);
    expect(traceroute('nyc', fra)).toEqual([address(6, 1), address(2, 1), address(1, 1), fra]);

    const summary = await bothWays();

    expect(summary.verdict).toBe('up');
    expect(Object.keys(textsOf(summary))).toEqual(['directions_alike']);
    expect(textsOf(summary)['directions_alike']).toContain('4 hops in both directions');
  });

  itInNetlab('have two ways, if r4 sends back over r5, r6 and r3', async () => {
    route('r4', '10.61.0.0/24', [5, 1]);
    // A Linux router answers with the address of the interface over which its answer leaves: r4 with one of the way
    // back.
    expect(traceroute('fra', nyc)).toEqual([address(0, 2), address(1, 2), address(5, 2), nyc]);
    expect(traceroute('nyc', fra)).toHaveLength(6);

    const summary = await bothWays();

    expect(summary.headline).toMatch(/^fra-1 and nyc-1 reach each other \(.*\); their ways seem to differ\.$/);
    const text = textsOf(summary)['directions_differ'];
    // The routers of the shorter direction are next to those of the other: r2 to r1, and r4 to r5.
    expect(text).toContain('A tunnel that hides hops in one direction only looks the same.');
    expect(text).toContain(
      `${address(7, 1)} and ${address(4, 1)} on the way from nyc-1 are near no router of the other`,
    );
    expect(text).toContain('nyc-1 is 4 hops from fra-1, and fra-1 is 6 hops from nyc-1');
  });

  itInNetlab('differ from a filter: the answers of the other one come back', async () => {
    route('r4', '10.61.0.0/24', [2, 1]);
    // fra drops echo requests, such as those of nyc, but not the replies to its own.
    execFileSync(IP, ['netns', 'exec', named('fra'), 'sysctl', '-qw', 'net.ipv4.icmp_echo_ignore_all=1']);

    const summary = await bothWays();

    expect(summary.verdict).toBe('partial');
    expect(summary.headline).toMatch(/^fra-1 reaches nyc-1; nyc-1 does not reach fra-1: /);
    expect(Object.keys(textsOf(summary))).toContain('direction_fails');
    expect(Object.keys(textsOf(summary))).not.toContain('directions_differ');
  });
});

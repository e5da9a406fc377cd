import { execFileSync, spawn, spawnSync } from 'node:child_process';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { unpackPackages } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

import { startCheckRunner } from './check-runner.ts';
import { IP, removeNamespaces, removeOrphans } from './namespaces.ts';
import { netlabMissing } from './netlab.ts';
import type { Traceroute } from './test-lab.ts';

const missing = netlabMissing();
const itInNetlab = itNeeding(missing, process.env['CI']);
const PREFIX = 'vantage-mtu';
const named = (node: string): string => `${PREFIX}-${process.pid}-${node}`;

/** The nodes, in a line; links are numbered from 0, and their ends 1 and 2. */
const nodes = ['probe', 'r1', 'r2', 'r3', 'target'] as const;
const ORDINARY = 1_500;
const address = {
  4: (link: number, end: number) => `10.62.${link}.${end}`,
  6: (link: number, end: number) => `fd62:${link}::${end}`,
};
const prefix = { 4: 24, 6: 64 } as const;
const HEADER_BYTES = { 4: 28, 6: 48 } as const;

function ip(node: string | undefined, ...args: string[]): void {
  execFileSync(IP, [...(node === undefined ? [] : ['-n', named(node)]), ...args], { stdio: 'pipe' });
}

function inNode(node: string, ...command: string[]): string {
  const { stdout, stderr } = spawnSync(IP, ['netns', 'exec', named(node), ...command], { encoding: 'utf8' });
  return stdout + stderr;
}

function build(): void {
  for (const node of nodes) {
    ip(undefined, 'netns', 'add', named(node));
    ip(node, 'link', 'set', 'lo', 'up');
    const settings = [
      'ipv4.ip_forward=1',
      'ipv6.conf.all.forwarding=1',
      'ipv4.conf.all.rp_filter=0',
      'ipv4.icmp_ratelimit=0',
    ];
    for (const setting of settings) inNode(node, 'sysctl', '-qw', `net.${setting}`);
  }
  for (const [link, a] of nodes.slice(0, -1).entries()) {
    const b = nodes[link + 1]!;
    ip(a, 'link', 'add', 'next', 'type', 'veth', 'peer', 'name', 'before', 'netns', named(b));
    for (const [node, name, end] of [
      [a, 'next', 1],
      [b, 'before', 2],
    ] as const) {
      for (const family of [4, 6] as const) {
        const nodad = family === 6 ? ['nodad'] : [];
        ip(node, 'address', 'add', `${address[family](link, end)}/${prefix[family]}`, 'dev', name, ...nodad);
      }
      ip(node, 'link', 'set', name, 'up');
    }
  }
  const last = nodes.length - 2;
  for (const family of [4, 6] as const) {
    for (const [index, node] of nodes.entries()) {
      if (index < nodes.length - 1) ip(node, `-${family}`, 'route', 'add', 'default', 'via', address[family](index, 2));
      if (index < 2) continue;
      ip(
        node,
        `-${family}`,
        'route',
        'add',
        `${address[family](0, 0)}/${prefix[family]}`,
        'via',
        address[family](index - 1, 1),
      );
    }
    ip(
      'r1',
      `-${family}`,
      'route',
      'replace',
      `${address[family](last, 0)}/${prefix[family]}`,
      'via',
      address[family](1, 2),
    );
  }
}

interface PathState {
  /** MTU of the links behind r1 and behind r2. */
  readonly mtus: readonly [number, number];
  /** Routers that send no ICMP errors to the probe. */
  readonly silent: readonly string[];
}

function apply({ mtus, silent }: PathState): void {
  for (const [index, mtu] of mtus.entries()) {
    ip(nodes[index + 1], 'link', 'set', 'next', 'mtu', `${mtu}`);
    ip(nodes[index + 2], 'link', 'set', 'before', 'mtu', String(mtu));
  }
  for (const node of ['r1', 'r2'])
    for (const family of [4, 6] as const) {
      const rule = ['iif', 'lo', 'to', `${address[family](0, 0)}/${prefix[family]}`, 'blackhole'];
      spawnSync(IP, ['-n', named(node), `-${family}`, 'rule', 'del', 'pref', '1'], { stdio: 'pipe' });
      if (silent.includes(node)) ip(node, `-${family}`, 'rule', 'add', 'pref', '1', ...rule);
    }
  forgetPathMtus();
}

/**
 * Makes the probe's kernel forget the path MTUs that routers reported: with one of them, it would send no larger
 * packets of the tools.
 */
function forgetPathMtus(): void {
  for (const family of [4, 6] as const) ip('probe', `-${family}`, 'route', 'flush', 'cache');
}

let runner: ReturnType<typeof startCheckRunner> | undefined;

beforeAll(() => {
  if (missing !== null) return;
  removeOrphans(PREFIX);
  build();
  const start: Parameters<typeof startCheckRunner>[0]['start'] = (_node, command, ...args) =>
    spawn(IP, ['netns', 'exec', named('probe'), command, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  runner = startCheckRunner({ start });
});

afterAll(async () => {
  await runner?.stop();
  if (missing === null) removeNamespaces((name) => name.startsWith(`${PREFIX}-${process.pid}-`));
});

/** Replaces the nftables rule by which r2 drops forwarded packets; with an empty one it drops none. */
async function drop(rule: string): Promise<void> {
  const packages = await unpackPackages('nftables');
  const libraries = `LD_LIBRARY_PATH=${packages.environment['LD_LIBRARY_PATH'] ?? ''}`;
  const table = `table inet sizes {\nchain forward {\ntype filter hook forward priority 0;\n${rule}\n}\n}\n`;
  inNode('r2', 'env', libraries, packages.program('nft'), 'delete table inet sizes');
  expect(inNode('r2', 'env', libraries, packages.program('nft'), table)).toBe('');
}

/** True if the target answers datagrams of this size of `traceroute`, which no router may fragment. */
function byTraceroute(host: string, bytes: number): boolean {
  forgetPathMtus();
  return inNode('probe', 'traceroute', '-n', '-F', '-q1', `-f${nodes.length - 1}`, '-m8', host, `${bytes}`).includes(
    ' ms',
  );
}

async function trace(host: string, options: object = {}): Promise<Traceroute> {
  const order = { type: 'traceroute', options, hide: false, partials: false, nameServer: null } as const;
  return (await runner!.run({ ...order, host })).outcome as Traceroute;
}

type Sizes = Pick<Traceroute, 'pathMtu' | 'mtuBlackHole' | 'fullSize'>;
const MOST_TRACES = 4;
const hasBlackHole = ({ mtuBlackHole }: Sizes): boolean => typeof mtuBlackHole === 'number';
const hasSizes = ({ pathMtu, fullSize }: Sizes): boolean => typeof pathMtu === 'number' && fullSize !== undefined;

/**
 * Traces up to `MOST_TRACES` times: on a busy machine a trace may run out of time or miss answers, and then states no
 * MTU.
 */
async function traceUntil(isKnown: (sizes: Sizes) => boolean, host: string, options: object = {}): Promise<Traceroute> {
  for (let left = MOST_TRACES; ; left -= 1) {
    const one = await trace(host, options);
    if (left === 1 || isKnown(one)) return one;
  }
}

/**
 * Answers of `ping` to three packets of this size, which no router may fragment: how many came, and whether there is an
 * error.
 */
function byPing(
  family: 4 | 6,
  host: string,
  bytes: number,
): { readonly answered: number; readonly isRefused: boolean } {
  forgetPathMtus();
  const out = inNode('probe', 'ping', '-c3', '-i0.3', '-W3', '-Mdo', `-s${bytes - HEADER_BYTES[family]}`, host);
  return { answered: Number(/(\d+) received/.exec(out)![1]), isRefused: /too big|needed|too long/i.test(out) };
}

describe.each([4, 6] as const)('path MTU over IPv%i', (family) => {
  const target = address[family](nodes.length - 2, 2);

  itInNetlab('is that of a black hole beyond a router that refuses', async () => {
    apply({ mtus: [1_400, 1_300], silent: ['r2'] });

    const { pathMtu, mtuBlackHole, reached } = await traceUntil(hasBlackHole, target);

    expect({ reached, pathMtu, mtuBlackHole }).toEqual({ reached: true, pathMtu: 1_300, mtuBlackHole: 1_301 });
    expect(byPing(family, target, 1_300)).toEqual({ answered: 3, isRefused: false });
    expect(byPing(family, target, 1_301)).toEqual({ answered: 0, isRefused: false });
    expect(byPing(family, target, 1_401)).toEqual({ answered: 0, isRefused: true });
  });

  itInNetlab('is that of a router that refuses beyond a black hole for larger packets', async () => {
    apply({ mtus: [1_450, 1_400], silent: ['r1'] });

    const { pathMtu, mtuBlackHole } = await traceUntil(hasBlackHole, target);

    expect({ pathMtu, mtuBlackHole }).toEqual({ pathMtu: 1_400, mtuBlackHole: 1_451 });
    expect(byPing(family, target, 1_400)).toEqual({ answered: 3, isRefused: false });
    expect(byPing(family, target, 1_401)).toEqual({ answered: 0, isRefused: true });
    expect(byPing(family, target, 1_450)).toEqual({ answered: 0, isRefused: true });
    expect(byPing(family, target, 1_451)).toEqual({ answered: 0, isRefused: false });
  });

  itInNetlab('is found by each kind of packets beyond a router that refuses', async () => {
    apply({ mtus: [1_400, 1_300], silent: ['r2'] });
    const kinds = [{ protocol: 'udp' }, { protocol: 'tcp' }, { flows: 'all', protocol: 'udp' }, { size: ORDINARY }];

    const traces = await Promise.all(kinds.map((options) => traceUntil(hasBlackHole, target, options)));

    expect(traces.map(({ pathMtu, mtuBlackHole }) => [pathMtu, mtuBlackHole])).toEqual(kinds.map(() => [1_300, 1_301]));
  });

  itInNetlab('is that of the tools without a black hole', async () => {
    apply({ mtus: [1_450, 1_400], silent: [] });

    const { pathMtu, mtuBlackHole, hops } = await trace(target);

    expect({ pathMtu, mtuBlackHole }).toEqual({ pathMtu: 1_400, mtuBlackHole: null });
    const byTool = inNode('probe', 'traceroute', '-n', '--mtu', target);
    expect(byTool).toContain('F=1400');
    // The tool prints the MTU at the hop beyond the router that reported it.
    const reported = [...byTool.matchAll(/^ *(\d+) .*F=(\d+)/gm)].map(([, hop, mtu]) => [Number(hop), Number(mtu)]);
    const ours = hops!.flatMap(({ hop, nextMtu }) => (nextMtu === undefined ? [] : [[hop + 1, nextMtu]]));
    expect(ours).toEqual(reported.filter(([, mtu]) => mtu !== ORDINARY));
    expect(ours).toEqual([
      [2, 1_450],
      [3, 1_400],
    ]);
  });

  const large = { 4: 'ip length > 1400', 6: 'ip6 length > 1360' } as const;
  const icmp = { 4: 'meta l4proto icmp', 6: 'meta l4proto icmpv6' } as const;
  const arrives = { bytes: ORDINARY, arrives: true };
  const vanishes = { bytes: ORDINARY, arrives: false };

  itInNetlab('does not hide that a filter drops large packets of one protocol alone', async () => {
    apply({ mtus: [ORDINARY, ORDINARY], silent: [] });
    const sizes = async (): Promise<object> => {
      const traces = await Promise.all(
        (['udp', 'tcp'] as const).map((protocol) => traceUntil(hasSizes, target, { protocol })),
      );
      return traces.map(({ reached, pathMtu, mtuBlackHole, fullSize }) => [reached, pathMtu, mtuBlackHole, fullSize]);
    };

    await drop(`${icmp[family]} ${large[family]} drop`);
    expect(await sizes()).toEqual([arrives, arrives].map((full) => [true, 1_400, 1_401, full]));
    expect(byTraceroute(target, ORDINARY)).toBe(true);
    expect(byPing(family, target, ORDINARY)).toEqual({ answered: 0, isRefused: false });

    await drop(`meta l4proto udp ${large[family]} drop`);
    expect(await sizes()).toEqual([vanishes, arrives].map((full) => [true, ORDINARY, null, full]));
    expect(byTraceroute(target, ORDINARY)).toBe(false);
    expect(byTraceroute(target, 1_400)).toBe(true);
    expect(byPing(family, target, ORDINARY)).toEqual({ answered: 3, isRefused: false });

    await drop(`meta l4proto tcp ${large[family]} drop`);
    expect(await sizes()).toEqual([arrives, vanishes].map((full) => [true, ORDINARY, null, full]));

    await drop('');
    expect(await sizes()).toEqual([arrives, arrives].map((full) => [true, ORDINARY, null, full]));
  });
});

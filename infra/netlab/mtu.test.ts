import { execFile, spawn } from 'node:child_process';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { unpackPackages } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

import { startCheckRunner } from './check-runner.ts';
import { configure, IP, removeNamespaces, removeOrphans, writeSettings } from './namespaces.ts';
import { netlabMissing } from './netlab.ts';
import type { Traceroute } from './test-lab.ts';

const missing = netlabMissing();
const itInNetlab = itNeeding(missing, process.env['CI']);
const itMeanwhile = itNeeding(missing, process.env['CI'], 'concurrent');
const PREFIX = 'vantage-mtu';
const named = (node: string): string => `${PREFIX}-${process.pid}-${node}`;

const ORDINARY = 1_500;
const large = ['ip length > 1400', 'ip6 length > 1360'] as const;
const families = [4, 6] as const;

interface Line {
  /** MTU of the links behind the first and behind the second router. */
  readonly mtus: readonly [number, number];
  /** Routers that send no ICMP errors to the probe, 1 or 2. */
  readonly silent?: 1 | 2;
  /** Packets that the second router drops, as matches of nftables. */
  readonly drops?: readonly string[];
}

/** A line for each state of a path, so that all are examined at the same time: `probe - NAME1 - NAME2 - r3 - target`. */
const lines = {
  hole: { mtus: [1_400, 1_300], silent: 2 },
  refusal: { mtus: [1_450, 1_400], silent: 1 },
  plain: { mtus: [1_450, 1_400] },
  icmp: { mtus: [ORDINARY, ORDINARY], drops: [`meta l4proto icmp ${large[0]}`, `meta l4proto icmpv6 ${large[1]}`] },
  udp: { mtus: [ORDINARY, ORDINARY], drops: large.map((size) => `meta l4proto udp ${size}`) },
  tcp: { mtus: [ORDINARY, ORDINARY], drops: large.map((size) => `meta l4proto tcp ${size}`) },
  none: { mtus: [ORDINARY, ORDINARY], drops: [] },
} as const satisfies Readonly<Record<string, Line>>;
type LineName = keyof typeof lines;
const names = Object.keys(lines) as readonly LineName[];

/** Number of hops to the target. */
const HOPS = 4;
/** Number of the link between r3 and the target, which has an address for each line. */
const LAST = 99;
const address = {
  4: (link: number, host: number) => `10.62.${link}.${host}`,
  6: (link: number, host: number) => `fd62:${link}::${host}`,
} as const;
const prefix = { 4: 24, 6: 64 } as const;
const HEADER_BYTES = { 4: 28, 6: 48 } as const;
const targetOf = (name: LineName, family: 4 | 6): string => address[family](LAST, 10 + names.indexOf(name));

/** Links of a line are numbered from here on; the ends of each are 1 and 2, as seen from the probe. */
const firstLink = (name: LineName): number => 3 * names.indexOf(name);

function addNode(node: string): void {
  configure(undefined, [`netns add ${named(node)}`]);
  configure(named(node), ['link set lo up']);
  writeSettings(named(node), {
    'ipv4/ip_forward': 1,
    'ipv6/conf/all/forwarding': 1,
    'ipv4/conf/all/rp_filter': 0,
    'ipv4/icmp_ratelimit': 0,
  });
}

/** Connects two nodes; the devices are named after the number of the link, and `a` or `b` for the end. */
function connect(link: number, [a, b]: readonly [string, string], mtu = ORDINARY): void {
  configure(named(a), [`link add l${link}a type veth peer name l${link}b netns ${named(b)}`]);
  for (const [node, device, end] of [
    [a, `l${link}a`, 1],
    [b, `l${link}b`, 2],
  ] as const) {
    configure(named(node), [
      ...families.map(
        (family) =>
          `address add ${address[family](link, end)}/${prefix[family]} dev ${device}${family === 6 ? ' nodad' : ''}`,
      ),
      `link set ${device} mtu ${mtu} up`,
    ]);
  }
}

function addLine(name: LineName, { mtus, silent }: Line): void {
  const first = firstLink(name);
  const [near, far] = [`${name}1`, `${name}2`];
  for (const node of [near, far]) addNode(node);
  connect(first, ['probe', near]);
  connect(first + 1, [near, far], mtus[0]);
  connect(first + 2, [far, 'r3'], mtus[1]);
  for (const family of families) {
    const back = `${address[family](first, 0)}/${prefix[family]}`;
    const via = (link: number, end: number): string => `via ${address[family](link, end)}`;
    configure(named('probe'), [`route add ${targetOf(name, family)} ${via(first, 2)}`], family);
    configure(named(near), [`route add default ${via(first + 1, 2)}`], family);
    configure(named(far), [`route add default ${via(first + 2, 2)}`, `route add ${back} ${via(first + 1, 1)}`], family);
    configure(named('r3'), [`route add ${back} ${via(first + 2, 1)}`], family);
    if (silent !== undefined)
      configure(named(`${name}${silent}`), [`rule add pref 1 iif lo to ${back} blackhole`], family);
  }
}

function build(): void {
  for (const node of ['probe', 'r3', 'target']) addNode(node);
  connect(LAST, ['r3', 'target']);
  for (const family of families) {
    const hosted = names.map((name) => `${targetOf(name, family)}/${prefix[family]} dev l${LAST}b`);
    configure(
      named('target'),
      hosted.map((text) => `address add ${text}${family === 6 ? ' nodad' : ''}`),
    );
    configure(named('target'), [`route add default via ${address[family](LAST, 1)}`], family);
  }
  for (const name of names) addLine(name, lines[name]);
}

/** Runs a program in a node; resolves to its output and errors, whatever its exit status. */
function inNode(node: string, ...command: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(IP, ['netns', 'exec', named(node), ...command], { encoding: 'utf8' }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}

/** Makes the second router of a line drop packets, given as matches of nftables. */
async function dropOn(name: LineName, drops: readonly string[]): Promise<void> {
  const packages = await unpackPackages('nftables');
  const libraries = `LD_LIBRARY_PATH=${packages.environment['LD_LIBRARY_PATH'] ?? ''}`;
  const rules = drops.map((packets) => `${packets} drop`).join('\n');
  const table = `table inet sizes {\nchain forward {\ntype filter hook forward priority 0;\n${rules}\n}\n}\n`;
  expect(await inNode(`${name}2`, 'env', libraries, packages.program('nft'), table)).toBe('');
}

/**
 * Makes the probe's kernel forget the path MTUs that routers reported: with one of them, it would send no larger
 * packets of the tools.
 */
function forgetPathMtus(): void {
  for (const family of families) configure(named('probe'), ['route flush cache'], family);
}

let runner: ReturnType<typeof startCheckRunner> | undefined;

beforeAll(async () => {
  if (missing !== null) return;
  removeOrphans(PREFIX);
  build();
  const filtered = Object.entries<Line>(lines).filter(([, { drops = [] }]) => drops.length > 0);
  await Promise.all(filtered.map(([name, { drops = [] }]) => dropOn(name as LineName, drops)));
  const start: Parameters<typeof startCheckRunner>[0]['start'] = (_node, command, ...args) =>
    spawn(IP, ['netns', 'exec', named('probe'), command, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  runner = startCheckRunner({ start });
});

afterAll(async () => {
  await runner?.stop();
  if (missing === null) removeNamespaces((name) => name.startsWith(`${PREFIX}-${process.pid}-`));
});

/** True if the target answers datagrams of this size of `traceroute`, which no router may fragment. */
async function byTraceroute(host: string, bytes: number): Promise<boolean> {
  forgetPathMtus();
  const words = ['-n', '-F', '-q1', `-f${HOPS}`, '-m8', host, `${bytes}`];
  return (await inNode('probe', 'traceroute', ...words)).includes(' ms');
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

interface Echoes {
  readonly answered: number;
  readonly isRefused: boolean;
}

/**
 * Answers of `ping` to three packets of this size, which no router may fragment: how many came, and whether there is an
 * error.
 */
async function byPing(family: 4 | 6, host: string, bytes: number): Promise<Echoes> {
  forgetPathMtus();
  const out = await inNode('probe', 'ping', '-c3', '-i0.3', '-W3', '-Mdo', `-s${bytes - HEADER_BYTES[family]}`, host);
  return { answered: Number(/(\d+) received/.exec(out)![1]), isRefused: /too big|needed|too long/i.test(out) };
}

/**
 * Like `byPing`, up to `MOST_TRACES` times until nothing is answered: a late report of a router to an earlier tool lowers
 * the path MTU of the probe, which then fragments packets over IPv6.
 */
async function unanswered(family: 4 | 6, host: string, bytes: number): Promise<Echoes> {
  for (let left = MOST_TRACES; ; left -= 1) {
    const echoes = await byPing(family, host, bytes);
    if (left === 1 || echoes.answered === 0) return echoes;
  }
}

const arrives = { bytes: ORDINARY, arrives: true };
const vanishes = { bytes: ORDINARY, arrives: false };

/** Results of traces by UDP and by TCP at the same time. */
async function sizesOf(host: string): Promise<readonly unknown[]> {
  const traces = await Promise.all(
    (['udp', 'tcp'] as const).map((protocol) => traceUntil(hasSizes, host, { protocol })),
  );
  return traces.map(({ reached, pathMtu, mtuBlackHole, fullSize }) => [reached, pathMtu, mtuBlackHole, fullSize]);
}

describe.each(families)('path MTU over IPv%i', (family) => {
  // Alone: no other case makes the kernel forget what routers report to the tool.
  itInNetlab('is that of the tools without a black hole', async () => {
    const target = targetOf('plain', family);

    const { pathMtu, mtuBlackHole, hops } = await trace(target);

    expect({ pathMtu, mtuBlackHole }).toEqual({ pathMtu: 1_400, mtuBlackHole: null });
    forgetPathMtus();
    const byTool = await inNode('probe', 'traceroute', '-n', '--mtu', target);
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
});

describe('path MTU', () => {
  for (const family of families) {
    itMeanwhile(`over IPv${family} is that of a black hole beyond a router that refuses`, async () => {
      const target = targetOf('hole', family);

      const { pathMtu, mtuBlackHole, reached } = await traceUntil(hasBlackHole, target);

      expect({ reached, pathMtu, mtuBlackHole }).toEqual({ reached: true, pathMtu: 1_300, mtuBlackHole: 1_301 });
      expect(await byPing(family, target, 1_300)).toEqual({ answered: 3, isRefused: false });
      expect(await byPing(family, target, 1_301)).toEqual({ answered: 0, isRefused: false });
      expect(await byPing(family, target, 1_401)).toEqual({ answered: 0, isRefused: true });
    });

    itMeanwhile(
      `over IPv${family} is that of a router that refuses beyond a black hole for larger packets`,
      async () => {
        const target = targetOf('refusal', family);

        const { pathMtu, mtuBlackHole } = await traceUntil(hasBlackHole, target);

        expect({ pathMtu, mtuBlackHole }).toEqual({ pathMtu: 1_400, mtuBlackHole: 1_451 });
        expect(await byPing(family, target, 1_400)).toEqual({ answered: 3, isRefused: false });
        expect(await byPing(family, target, 1_401)).toEqual({ answered: 0, isRefused: true });
        expect(await byPing(family, target, 1_450)).toEqual({ answered: 0, isRefused: true });
        expect(await byPing(family, target, 1_451)).toEqual({ answered: 0, isRefused: false });
      },
    );

    itMeanwhile(`over IPv${family} is found by each kind of packets beyond a router that refuses`, async () => {
      const kinds = [{ protocol: 'udp' }, { protocol: 'tcp' }, { flows: 'all', protocol: 'udp' }, { size: ORDINARY }];

      const traces = await Promise.all(
        kinds.map((options) => traceUntil(hasBlackHole, targetOf('hole', family), options)),
      );

      const found = traces.map(({ pathMtu, mtuBlackHole }) => [pathMtu, mtuBlackHole]);
      expect(found).toEqual(kinds.map(() => [1_300, 1_301]));
    });

    itMeanwhile(`over IPv${family} is smaller where a filter drops large packets of ICMP, and UDP passes`, async () => {
      const target = targetOf('icmp', family);

      expect(await sizesOf(target)).toEqual([arrives, arrives].map((full) => [true, 1_400, 1_401, full]));
      expect(await byTraceroute(target, ORDINARY)).toBe(true);
      expect(await unanswered(family, target, ORDINARY)).toEqual({ answered: 0, isRefused: false });
    });

    itMeanwhile(`over IPv${family} does not hide that a filter drops large packets of UDP alone`, async () => {
      const target = targetOf('udp', family);

      expect(await sizesOf(target)).toEqual([vanishes, arrives].map((full) => [true, ORDINARY, null, full]));
      expect(await byTraceroute(target, ORDINARY)).toBe(false);
      expect(await byTraceroute(target, 1_400)).toBe(true);
      expect(await byPing(family, target, ORDINARY)).toEqual({ answered: 3, isRefused: false });
    });

    itMeanwhile(`over IPv${family} does not hide that a filter drops large packets of TCP alone`, async () => {
      const sizes = await sizesOf(targetOf('tcp', family));

      expect(sizes).toEqual([arrives, vanishes].map((full) => [true, ORDINARY, null, full]));
    });

    itMeanwhile(`over IPv${family} is that of the links where nothing is dropped`, async () => {
      const sizes = await sizesOf(targetOf('none', family));

      expect(sizes).toEqual([arrives, arrives].map((full) => [true, ORDINARY, null, full]));
    });
  }
});

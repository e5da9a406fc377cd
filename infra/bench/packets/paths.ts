import type { CheckRunner } from '../../netlab/check-runner.ts';
import type { Netlab } from '../../netlab/netlab.ts';
import { DELAY_MS } from '../../netlab/impairments.ts';
import { families, type Traceroute } from '../../netlab/test-lab.ts';
import { networks } from '../../netlab/topology.ts';
import { median, type Figure } from '../goals.ts';
import type { Peers } from './peers.ts';
import { order } from './round-trips.ts';

const ROUNDS = 31;
/** Traces before the measurement: the first ones of an agent are its slowest. */
const WARM_UP = 20;

type Protocol = 'icmp' | 'udp' | 'tcp';
type View = readonly (string | null)[];
type See = (host: string, protocol: Protocol) => Promise<View>;

/** Hops on known paths that the check and its peers miss or get wrong: a figure per protocol, both families together. */
export async function hopsFound(lab: Netlab, peers: Peers, runner: CheckRunner): Promise<readonly Figure[]> {
  const tools = viewers(lab, peers, runner);
  const figures: Figure[] = [];
  for (const protocol of ['icmp', 'udp', 'tcp'] as const) {
    const missed = new Map<string, number>();
    for (const { host, truth } of paths()) {
      for (const [name, see] of tools) {
        const seen = await see(host, protocol);
        // Some tools continue beyond the target.
        const view = seen.slice(0, seen.includes(host) ? seen.indexOf(host) + 1 : seen.length);
        const wrong = truth.filter((address, index) => view[index] !== address).length;
        missed.set(name, (missed.get(name) ?? 0) + wrong + Math.max(0, view.length - truth.length));
      }
    }
    const all = paths().flatMap(({ truth }) => truth).length;
    const comparison = [`of ${all}`, ...[...missed].slice(1).map(([name, count]) => `${name} ${count}`)].join(', ');
    figures.push({
      name: `hops missed or wrong by ${protocol}`,
      value: missed.get('ours')!,
      unit: '',
      atMost: 0,
      comparison,
    });
  }
  return figures;
}

/** Durations for paths at a known distance, and for one that ends in silence. */
export async function pathTimes(lab: Netlab, peers: Peers, runner: CheckRunner): Promise<readonly Figure[]> {
  const { address } = families[0];
  const tools = viewers(lab, peers, runner);
  const [ours, traceroute, scamper] = ['ours', 'traceroute', 'scamper'].map((name) => {
    const see = tools.get(name);
    return see === undefined ? undefined : (host: string) => took(() => see(host, 'icmp'));
  });
  const hopsKnown = async (host: string): Promise<number> => {
    const { partials } = await runner.run({ ...order('traceroute', host, {}), partials: true });
    return partials.at(-1)!.atMs;
  };
  const program = peers.path('traceroute');
  const withMtu =
    program === undefined ? undefined : (host: string) => took(() => lab.run('probe', program, '-n', '--mtu', host));
  const far = `${DELAY_MS} ms away`;
  const silent = address(networks.blackHole, 1);
  const [oursSilent, theirsSilent] = [await ours!(silent), (await traceroute?.(silent)) ?? 0];
  return [
    ...(await inTurns(`complete path ${far}`, address(networks.even, 99), ours!, { traceroute, scamper })),
    ...(await inTurns(`all hops of a path ${far} with a small MTU`, address(networks.distant, 99), hopsKnown, {
      traceroute,
      scamper,
    })),
    ...(await inTurns(`path ${far} and its small MTU`, address(networks.distant, 99), ours!, {
      'traceroute --mtu': withMtu,
    })),
    {
      name: 'path that ends in silence',
      value: oursSilent,
      unit: 'ms',
      comparison: `traceroute ${theirsSilent.toFixed(0)} ms`,
    },
    ...(traceroute === undefined ? [] : [timesFaster(theirsSilent / oursSilent)]),
  ];
}

function timesFaster(value: number): Figure {
  return { name: 'path that ends in silence, times faster than traceroute', value, unit: '×', atLeast: 5 };
}

type Time = (host: string) => Promise<number>;

async function took(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

/** Medians of rounds in which the tools alternate. */
async function inTurns(
  name: string,
  host: string,
  ours: Time,
  others: Readonly<Record<string, Time | undefined>>,
): Promise<readonly Figure[]> {
  const tools = Object.entries<Time | undefined>({ ours, ...others }).flatMap(([tool, time]) =>
    time ? [{ tool, time, times: [] as number[] }] : [],
  );
  for (let round = 0; round < WARM_UP; round += 1) await ours(host);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { time, times } of tools) times.push(await time(host));
  }
  const [own, ...peers] = tools.map(({ tool, times }) => ({ tool, value: median(times) }));
  const comparison = peers.map(({ tool, value }) => `${tool} ${value.toFixed(1)} ms`).join(', ');
  return [
    { name, value: own!.value, unit: 'ms', comparison },
    ...peers.map(({ tool, value }) => ({
      name: `${name}, ${tool} = 1`,
      value: own!.value / value,
      unit: '×',
      atMost: 1,
    })),
  ];
}

function paths(): readonly { readonly host: string; readonly truth: View }[] {
  return families.flatMap(({ family, address }) => [
    { host: address(4, 2), truth: [address(1, 2), address(2, 2), address(3, 2), address(4, 2)] },
    {
      host: address(networks.distant, 99),
      // Over IPv4, Linux answers from the address of its interface towards the probe; over IPv6, from that of the
      // interface by which the packet arrived.
      truth: [address(1, 2), address(9, 2), address(family === 4 ? 3 : 10, 2), address(networks.distant, 99)],
    },
  ]);
}

const flags = {
  traceroute: { icmp: ['-I'], udp: ['-U'], tcp: ['-T'] },
  mtr: { icmp: [], udp: ['-u'], tcp: ['-T'] },
  scamper: { icmp: 'icmp-paris', udp: 'udp-paris', tcp: 'tcp' },
} as const;

function viewers(lab: Netlab, peers: Peers, runner: CheckRunner): ReadonlyMap<string, See> {
  const tools = new Map<string, See>([
    [
      'ours',
      async (host, protocol) => {
        const { outcome } = await runner.run(order('traceroute', host, { protocol }));
        return (outcome as Traceroute).hops!.map(({ ip }) => ip);
      },
    ],
  ]);
  const [traceroute, mtr, scamper] = [peers.path('traceroute'), peers.path('mtr'), peers.path('scamper')];
  const run = async (...command: readonly [string, ...string[]]): Promise<string> =>
    (await lab.run('probe', ...command)).stdout;
  if (traceroute) {
    tools.set('traceroute', async (host, protocol) =>
      rows(await run(traceroute, '-n', ...flags.traceroute[protocol], host)),
    );
  }
  if (mtr) {
    tools.set('mtr', async (host, protocol) => {
      const raw = await run(
        'env',
        `MTR_PACKET=${mtr}-packet`,
        mtr,
        '-n',
        '--raw',
        '-c',
        '3',
        '-i',
        '0.1',
        '-G',
        '1',
        ...flags.mtr[protocol],
        host,
      );
      const view: (string | null)[] = [];
      for (const [, hop, address] of raw.matchAll(/^h (\d+) (\S+)/gm)) view[Number(hop)] = address!;
      return view;
    });
  }
  if (scamper) {
    tools.set('scamper', async (host, protocol) =>
      rows(await run(scamper, '-c', `trace -q 3 -P ${flags.scamper[protocol]}`, '-i', host)),
    );
  }
  return tools;
}

/** The first address or star of each numbered line. */
function rows(text: string): View {
  return [...text.matchAll(/^ *\d+ +(\S+)/gm)].map(([, who]) => (who === '*' ? null : who!));
}

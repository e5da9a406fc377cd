import type { CheckRunner } from '../../netlab/check-runner.ts';
import type { Netlab } from '../../netlab/netlab.ts';
import { DELAY_MS } from '../../netlab/impairments.ts';
import { families, type Ping } from '../../netlab/test-lab.ts';
import { networks } from '../../netlab/topology.ts';
import { quantile, type Figure } from '../goals.ts';
import type { Peers } from './peers.ts';

const ROUNDS = 10;
const PACKETS = 16;
const INTERVAL_MS = 200;
/** Concurrent runs of each tool: the delay of the link varies, and must affect all tools alike. */
const AT_ONCE = 3;

type Sample = () => Promise<readonly number[]>;

/**
 * Difference between the measured round-trip times and the known delay of the link; all tools measure at the same time.
 * It includes the time of kernel and link, which is equal for all. The tools print different numbers of digits.
 */
export async function roundTripErrors(
  lab: Netlab,
  peers: Peers,
  runner: CheckRunner,
  state: 'idle' | 'busy',
): Promise<readonly Figure[]> {
  const samples = samplers(lab, peers, runner);
  const errors = new Map<string, number[]>([...samples.keys()].map((name) => [name, []]));
  await Promise.all([...samples.values()].map((sample) => sample()));
  for (let round = 0; round < ROUNDS; round += 1) {
    const tools = [...samples].flatMap((tool) => Array.from({ length: AT_ONCE }, () => tool));
    await Promise.all(
      tools.map(async ([name, sample]) => {
        errors.get(name)!.push(...(await sample()).map((rtt) => Math.abs(rtt - DELAY_MS)));
      }),
    );
  }
  const at = (name: string, share: number): number => quantile(errors.get(name)!, share);
  const comparison = (share: number): string =>
    [...errors.keys()]
      .slice(1)
      .map((name) => `${name} ${at(name, share).toFixed(3)} ms`)
      .join(', ');
  return [
    { name: `RTT error, ${state}, p50`, value: at('ours', 0.5), unit: 'ms', comparison: comparison(0.5) },
    { name: `RTT error, ${state}, p99`, value: at('ours', 0.99), unit: 'ms', comparison: comparison(0.99) },
    {
      name: `RTT error beyond ping’s, ${state}, p50`,
      value: at('ours', 0.5) - at('ping', 0.5),
      unit: 'ms',
      atMost: 0.1,
    },
    {
      name: `RTT error beyond ping’s, ${state}, p99`,
      value: at('ours', 0.99) - at('ping', 0.99),
      unit: 'ms',
      atMost: 1,
    },
  ];
}

function samplers(lab: Netlab, peers: Peers, runner: CheckRunner): ReadonlyMap<string, Sample> {
  const host = families[0].address(networks.even, 99);
  const [count, interval] = [String(PACKETS), String(INTERVAL_MS / 1_000)];
  const options = { count: PACKETS, interval: INTERVAL_MS };
  const tools = new Map<string, Sample>([
    [
      'ours',
      async () => {
        const { outcome } = await runner.run(order('ping', host, options));
        return (outcome as Ping).packets!.flatMap(({ rtt }) => rtt ?? []);
      },
    ],
  ]);
  const read = async (pattern: RegExp, program: string, ...args: readonly string[]): Promise<readonly number[]> =>
    [...(await lab.run('probe', program, ...args)).stdout.matchAll(pattern)].map(([, rtt]) => Number(rtt));
  const [ping, fping, scamper, mtr] = [
    peers.path('ping'),
    peers.path('fping'),
    peers.path('scamper'),
    peers.path('mtr'),
  ];
  if (ping) tools.set('ping', () => read(/time=([\d.]+)/g, ping, '-n', '-c', count, '-i', interval, host));
  if (fping) tools.set('fping', () => read(/, ([\d.]+) ms \(/g, fping, '-c', count, '-p', String(INTERVAL_MS), host));
  if (scamper) {
    const command = `ping -c ${PACKETS} -i 1`;
    // scamper waits a whole second between packets, so it sends fewer.
    tools.set('scamper', () => read(/time=([\d.]+)/g, scamper, '-c', command.replace(count, '3'), '-i', host));
  }
  if (mtr) {
    const packet = { name: 'MTR_PACKET', path: `${mtr}-packet` };
    tools.set('mtr', async () => {
      const raw = ['-n', '--raw', '-c', '4', '-i', '0.5', '-G', '1', host];
      const rtts = await read(/^p 1 (\d+)/gm, 'env', `${packet.name}=${packet.path}`, mtr, ...raw);
      return rtts.map((microseconds) => microseconds / 1_000);
    });
  }
  return tools;
}

export function order(type: 'ping' | 'traceroute', host: string, options: object): Parameters<CheckRunner['run']>[0] {
  return { type, host, options, hide: false, nameServer: null, partials: false };
}

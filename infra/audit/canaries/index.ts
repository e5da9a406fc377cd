import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { DNS_PORT, PUBLIC, REDIS_PORT, ROOTS, VACANT, WORLD } from './addresses.ts';
import { networkMissing, openNetwork, type Network } from './network.ts';
import type { WorldReport } from './world.ts';

export { networkMissing };

/** Packets to one place that none may go to. */
export interface Touch {
  readonly protocol: string;
  readonly address: string;
  readonly port: number;
  readonly packets: number;
}

export interface CanaryReport extends WorldReport {
  /** Destinations that no packet may reach; those on the agent's machine are counted as `loopback`. */
  readonly touches: readonly Touch[];
}

export interface CanaryOptions {
  /** For a trial of the canaries themselves: an agent whose operator allows this address, and jobs for it alone. */
  readonly allow?: string;
}

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * Runs the real agent in a network of namespaces and puts jobs straight into its queue, as if every check of the coordinator
 * were gone: every check type on every address, name, redirect, resolver and delegation that leads where no packet may go.
 * What leaves the agent's machine is counted on the wire.
 *
 * @throws where there can be no such network (`networkMissing`), or where the lab does not work
 */
export async function runCanaryAudit({ allow }: CanaryOptions = {}): Promise<CanaryReport> {
  const network = openNetwork({
    PROBE_ID: 'canary',
    REDIS_URL: `redis://${WORLD.ipv4}:${REDIS_PORT}`,
    DNS_SERVERS: `${WORLD.ipv4}:${DNS_PORT}`,
    CONCURRENCY: '64',
    LOG_LEVEL: 'silent',
    // A browser talks to its proxy over loopback. The tests of the browser have separate canaries for its traffic.
    SCREENSHOTS: 'off',
    TARGET_ALLOW: allow ?? '',
  });
  try {
    return await watch(network, allow);
  } finally {
    network.remove();
  }
}

async function watch(network: Network, allow: string | undefined): Promise<CanaryReport> {
  const node = (where: 'agent' | 'world', path: string, ...args: readonly string[]): ChildProcess =>
    network.start(where, process.execPath, '--conditions=vantage-source', '--no-warnings', file(path), ...args);
  const world = node('world', 'world.ts', ...(allow === undefined ? [] : [allow]));
  const lines = createInterface({ input: world.stdout! })[Symbol.asyncIterator]();
  await nextLine(world, lines);
  const sniffer = network.start('world', 'python3', file('sniff.py'), 'in');
  const heard = createInterface({ input: sniffer.stdout! })[Symbol.asyncIterator]();
  await nextLine(sniffer, heard);
  const loopbackBefore = network.loopbackPackets();
  const agent = node('agent', '../../../apps/probe-agent/src/main.ts');
  agent.stdout!.resume();

  const report = JSON.parse(await nextLine(world, lines, agent)) as WorldReport;
  agent.kill('SIGKILL');
  const loopback = network.loopbackPackets() - loopbackBefore;
  sniffer.stdin!.end();
  const seen = JSON.parse(await nextLine(sniffer, heard)) as readonly Touch[];
  const toItself = { protocol: 'any', address: 'loopback', port: 0, packets: loopback };
  return { ...report, touches: [...seen.filter((touch) => !isExpected(touch)), ...(loopback === 0 ? [] : [toItself])] };
}

/** Its Redis and its resolver at their ports, and what a caller may measure. */
function isExpected({ protocol, address, port }: Touch): boolean {
  if (address === WORLD.ipv4) {
    return (protocol === 'tcp' && port === REDIS_PORT) || (protocol !== 'icmp' && port === DNS_PORT);
  }
  return [...Object.values(PUBLIC), ...VACANT, ...ROOTS].some((allowed) => allowed === address);
}

/** @throws with what the program said, where it ends before, or where another does that it waits for */
async function nextLine(child: ChildProcess, lines: AsyncIterator<string>, other?: ChildProcess): Promise<string> {
  const ended = [child, ...(other === undefined ? [] : [other])].map(async (one) => {
    const said = text(one.stderr!);
    const [code, signal] = (await once(one, 'exit')) as [number | null, string | null];
    throw new Error(`A program of the lab ended (${code ?? signal}): ${(await said).slice(-2_000)}`);
  });
  const line = await Promise.race([lines.next(), ...ended]);
  if (line.done === true) return Promise.race<never>(ended);
  return line.value;
}

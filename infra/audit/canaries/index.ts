import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';

import { DNS_PORT, GATEWAY_PORT, PUBLIC, REDIS_PORT, ROOTS, VACANT, WORLD } from './addresses.ts';
import { networkMissing, openNetwork, type Network } from './network.ts';
import type { WorldReport } from './world.ts';

export { networkMissing };

/** Packets to a forbidden destination. */
export interface Touch {
  readonly protocol: string;
  readonly address: string;
  readonly port: number;
  readonly packets: number;
}

export interface CanaryReport extends WorldReport {
  /** Packets to destinations that none may reach; those inside the agent's machine have the address `loopback`. */
  readonly touches: readonly Touch[];
}

/** How the agent gets its jobs. */
export const transports = ['redis', 'gateway'] as const;
export type CanaryTransport = (typeof transports)[number];

export interface CanaryOptions {
  readonly transport?: CanaryTransport;
  /**
   * Addresses that the agent's operator allows. Then only jobs for them are run, which tests the canaries themselves.
   */
  readonly allow?: readonly string[];
}

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * Runs the real agent in a network of namespaces and adds jobs directly to its queue, over Redis or through a
 * gateway, without any validation by a coordinator: checks of addresses, names, redirects, resolvers and delegations
 * that lead to a forbidden destination (`canaryJobs`). Packets that leave the agent's machine are counted on the wire.
 *
 * @throws if there can be no such network (`networkMissing`), or if the lab does not work
 */
export async function runCanaryAudit({ transport = 'redis', allow = [] }: CanaryOptions = {}): Promise<CanaryReport> {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-canary-'));
  const network = openNetwork({
    ...(transport === 'redis'
      ? { PROBE_ID: 'canary', REDIS_URL: `redis://${WORLD.ipv4}:${REDIS_PORT}` }
      : { VANTAGE_URL: `http://${WORLD.ipv4}:${GATEWAY_PORT}`, VANTAGE_STATE_FOLDER: join(folder, 'state') }),
    DNS_SERVERS: `${WORLD.ipv4}:${DNS_PORT}`,
    CONCURRENCY: '64',
    LOG_LEVEL: 'silent',
    // A browser talks to its proxy over loopback, where every packet counts as a touch.
    SCREENSHOTS: 'off',
    TARGET_ALLOW: allow.join(','),
  });
  try {
    return await watch(network, transport, allow);
  } finally {
    network.remove();
    rmSync(folder, { recursive: true });
  }
}

async function watch(network: Network, transport: CanaryTransport, allow: readonly string[]): Promise<CanaryReport> {
  const node = (where: 'agent' | 'world', path: string, more: { args?: readonly string[]; env?: string } = {}) => {
    const { args = [], env = 'NODE_NO_WARNINGS=1' } = more;
    return network.start(where, 'env', env, process.execPath, '--conditions=vantage-source', file(path), ...args);
  };
  const world = node('world', 'world.ts', { args: [transport, ...allow] });
  const lines = createInterface({ input: world.stdout! })[Symbol.asyncIterator]();
  const token = await nextLine(world, lines);
  const sniffer = network.start('world', 'python3', file('sniff.py'), 'in');
  const heard = createInterface({ input: sniffer.stdout! })[Symbol.asyncIterator]();
  await nextLine(sniffer, heard);
  const loopbackBefore = network.loopbackPackets();
  const agent = node('agent', bundledProgram('probe-agent'), { env: `VANTAGE_TOKEN=${token}` });
  agent.stdout!.resume();

  const report = JSON.parse(await nextLine(world, lines, agent)) as WorldReport;
  agent.kill('SIGKILL');
  const loopback = network.loopbackPackets() - loopbackBefore;
  sniffer.stdin!.end();
  const seen = JSON.parse(await nextLine(sniffer, heard)) as readonly Touch[];
  const toItself = { protocol: 'any', address: 'loopback', port: 0, packets: loopback };
  const servicePort = transport === 'redis' ? REDIS_PORT : GATEWAY_PORT;
  const unexpected = seen.filter((touch) => !isExpected(touch, servicePort));
  return { ...report, touches: [...unexpected, ...(loopback === 0 ? [] : [toItself])] };
}

/** True for the agent's Redis or gateway and its resolver, each at its port, and for permitted targets. */
function isExpected({ protocol, address, port }: Touch, servicePort: number): boolean {
  if (address === WORLD.ipv4) {
    return (protocol === 'tcp' && port === servicePort) || (protocol !== 'icmp' && port === DNS_PORT);
  }
  return [...Object.values(PUBLIC), ...VACANT, ...ROOTS].some((allowed) => allowed === address);
}

/**
 * Reads the next line that the program prints.
 *
 * @throws with the program's output, if it ends before its next line, or if another process that the audit needs has
 *   ended
 */
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

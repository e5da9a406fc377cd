import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { programEnv } from '@vantage/test-support/programs/program-env';

import { configure, deleteNamespace, IP, isAlive, namespaces, writeSettings } from '../../netlab/namespaces.ts';
import { AGENT, CANARIES, PUBLIC, ROOTS, WORLD } from './addresses.ts';

/** An agent's machine and everything outside of it, as two network namespaces with one link. No packet leaves them. */
export interface Network {
  readonly start: (where: 'agent' | 'world', program: string, ...args: readonly string[]) => ChildProcess;
  /** Packets that the agent's machine has sent to itself. */
  readonly loopbackPackets: () => number;
  readonly remove: () => void;
}

const PREFIX = 'vantage-canary';
/** Networks of this process so far: several may exist at the same time. */
let networks = 0;

/** Why this machine cannot create the network; null if it can. */
export function networkMissing(): string | null {
  const name = `${PREFIX}-${process.pid}-try`;
  try {
    execFileSync(IP, ['netns', 'add', name], { stdio: 'pipe' });
    execFileSync(IP, ['netns', 'delete', name], { stdio: 'pipe' });
    execFileSync('python3', ['--version'], { stdio: 'pipe' });
    return null;
  } catch (error) {
    return `the canaries need root, network namespaces and python3: ${Error.isError(error) ? error.message.trim() : String(error)}`;
  }
}

/**
 * Creates the network. Networks of runs that died are removed first.
 *
 * @param env environment of all programs that are started in it
 */
export function openNetwork(env: Readonly<Record<string, string>>): Network {
  removeOrphans();
  const number = (networks += 1);
  const name = (where: 'agent' | 'world'): string => `${PREFIX}-${process.pid}-${number}-${where}`;
  const children = new Set<ChildProcess>();
  const remove = (): void => {
    process.removeListener('exit', remove);
    for (const child of children) child.kill('SIGKILL');
    for (const where of ['agent', 'world'] as const) removeNamespace(name(where));
  };
  process.once('exit', remove);
  try {
    build(name('agent'), name('world'));
  } catch (error) {
    remove();
    throw error;
  }
  return {
    start: (where, program, ...args) => {
      const child = spawn(IP, ['netns', 'exec', name(where), program, ...args], {
        stdio: ['pipe', 'pipe', 'pipe'],
        env: programEnv(env),
      });
      children.add(child);
      child.once('exit', () => children.delete(child));
      return child;
    },
    loopbackPackets: () => {
      const table = execFileSync(IP, ['netns', 'exec', name('agent'), 'cat', '/proc/net/dev'], { encoding: 'utf8' });
      return Number(/^\s*lo:\s*\d+\s+(\d+)/m.exec(table)?.[1] ?? Number.NaN);
    },
    remove,
  };
}

function build(agent: string, world: string): void {
  const { ipv4, ipv6 } = WORLD;
  for (const namespace of [agent, world]) {
    execFileSync(IP, ['netns', 'add', namespace], { stdio: 'pipe' });
    writeSettings(namespace, { 'ipv6/conf/all/accept_dad': 0, 'ipv6/conf/default/accept_dad': 0 });
  }
  configure(agent, [
    'link set lo up',
    `link add out type veth peer name in netns ${world}`,
    ...addAddresses('out', [`${AGENT.ipv4}/30`, `${AGENT.ipv6}/64`, `${AGENT.public}/32`]),
    'link set out up',
  ]);
  configure(world, ['link set lo up', ...addAddresses('in', [`${ipv4}/30`, `${ipv6}/64`]), 'link set in up']);
  configure(agent, [`route add default via ${ipv4} src ${AGENT.ipv4}`, `route add default via ${ipv6}`]);
  const hosts = [PUBLIC.ipv4, PUBLIC.ipv6, ...ROOTS].map((address) => `${address}/${address.includes(':') ? 128 : 32}`);
  configure(world, [
    `route add ${AGENT.public}/32 via ${AGENT.ipv4}`,
    ...addAddresses('lo', hosts),
    // Local routes, so that the servers of the namespace answer at these addresses.
    ...Object.keys(CANARIES).map((address) => `route add local ${address}/${address.includes(':') ? 128 : 32} dev lo`),
  ]);
}

function addAddresses(device: string, addresses: readonly string[]): readonly string[] {
  return addresses.map((one) => `address add ${one} dev ${device}${one.includes(':') ? ' nodad' : ''}`);
}

function removeOrphans(): void {
  for (const name of namespaces()) {
    const pid = new RegExp(`^${PREFIX}-(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) removeNamespace(name);
  }
}

function removeNamespace(name: string): void {
  if (namespaces().includes(name)) deleteNamespace(name);
}

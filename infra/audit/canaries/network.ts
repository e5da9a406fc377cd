import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { programEnv } from '@vantage/test-support/programs/program-env';

import { deleteNamespace, isAlive, namespaces } from '../../netlab/namespaces.ts';
import { AGENT, CANARIES, PUBLIC, ROOTS, WORLD } from './addresses.ts';

/** An agent's machine and everything outside of it, as two network namespaces with one link. No packet leaves them. */
export interface Network {
  readonly start: (where: 'agent' | 'world', program: string, ...args: readonly string[]) => ChildProcess;
  /** Packets that the agent's machine has sent to itself. */
  readonly loopbackPackets: () => number;
  readonly remove: () => void;
}

const IP = '/usr/sbin/ip';
const PREFIX = 'vantage-canary';

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
  const name = (where: 'agent' | 'world'): string => `${PREFIX}-${process.pid}-${where}`;
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
  for (const namespace of [agent, world]) {
    run(`netns add ${namespace}`);
    const settings = ['conf/all/accept_dad', 'conf/default/accept_dad'].map(
      (key) => `echo 0 > /proc/sys/net/ipv6/${key}`,
    );
    execFileSync(IP, ['netns', 'exec', namespace, 'sh', '-ec', settings.join('\n')], { stdio: 'pipe' });
    run(`-n ${namespace} link set lo up`);
  }
  run(`-n ${agent} link add out type veth peer name in netns ${world}`);
  addAddresses(agent, 'out', [`${AGENT.ipv4}/30`, `${AGENT.ipv6}/64`, `${AGENT.public}/32`]);
  addAddresses(world, 'in', [`${WORLD.ipv4}/30`, `${WORLD.ipv6}/64`]);
  run(`-n ${agent} link set out up`);
  run(`-n ${world} link set in up`);
  const { ipv4, ipv6 } = WORLD;
  run(`-n ${agent} route add default via ${ipv4} src ${AGENT.ipv4}`);
  run(`-n ${agent} -6 route add default via ${ipv6}`);
  run(`-n ${world} route add ${AGENT.public}/32 via ${AGENT.ipv4}`);
  addAddresses(
    world,
    'lo',
    [PUBLIC.ipv4, PUBLIC.ipv6, ...ROOTS].map((address) => `${address}/${address.includes(':') ? 128 : 32}`),
  );
  // Local routes, so that the servers of the namespace answer at these addresses.
  for (const address of Object.keys(CANARIES)) {
    const family = address.includes(':') ? '-6 ' : '';
    run(`-n ${world} ${family}route add local ${address}/${family === '' ? 32 : 128} dev lo`);
  }
}

function addAddresses(namespace: string, device: string, addresses: readonly string[]): void {
  for (const address of addresses) {
    run(`-n ${namespace} address add ${address} dev ${device}${address.includes(':') ? ' nodad' : ''}`);
  }
}

function run(line: string): void {
  execFileSync(IP, line.split(' ').filter(Boolean), { stdio: 'pipe' });
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

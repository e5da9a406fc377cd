import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';

import { deleteNamespace, isAlive, namespaces } from './namespaces.ts';

/**
 * A probe, a router and a target in kernel namespaces, for tests of ports and services at their own numbers. Networks
 * are 10.201.N.0/24 and fd00:201:N::/64.
 *
 *   probe ─1─ router ─2─ target
 */
export interface ServicesLab {
  /** Prefix of a command that runs it inside a node. */
  readonly inside: (node: LabNode) => readonly string[];
  /** Runs a program inside a node; returns its output. */
  readonly run: (node: LabNode, program: string, ...args: readonly string[]) => Promise<string>;
  /** Starts a program inside a node, with pipes to it. */
  readonly start: (node: LabNode, program: string, ...args: readonly string[]) => ChildProcess;
  /** Removes every namespace. Can be called again. */
  readonly remove: () => void;
}

export const labNodes = ['probe', 'router', 'target'] as const;
export type LabNode = (typeof labNodes)[number];

export interface LabFamily {
  readonly family: 4 | 6;
  readonly target: string;
  /** Router's address on the link to the probe. */
  readonly router: string;
  /**
   * Address to which the router refuses packets as administratively prohibited, once `filterPackets` has been called.
   */
  readonly prohibited: string;
  /** Address to which the router refuses packets as unreachable, once `filterPackets` has been called. */
  readonly unreachable: string;
  /** Address to which the router has a blackhole route: it drops packets silently. */
  readonly blackHole: string;
}

const PROHIBITED = 90;
const UNREACHABLE = 91;
const BLACK_HOLE = 92;

const address4 = (network: number, host: number): string => `10.201.${network}.${host}`;
const address6 = (network: number, host: number): string => `fd00:201:${network}::${host}`;

export const labFamilies: readonly [LabFamily, LabFamily] = [addressesOf(4, address4), addressesOf(6, address6)];

function addressesOf(family: 4 | 6, address: (network: number, host: number) => string): LabFamily {
  return {
    family,
    target: address(2, 2),
    router: address(1, 2),
    prohibited: address(PROHIBITED, 1),
    unreachable: address(UNREACHABLE, 1),
    blackHole: address(BLACK_HOLE, 1),
  };
}

/**
 * Ports of the target for which `filterPackets` adds a rule, for TCP and UDP alike; `reset` for TCP alone. `rejected`
 * is refused as nftables and iptables do by default.
 */
export const labPorts = { dropped: 7001, reset: 7002, prohibited: 7003, rejected: 7004 } as const;

const IP = '/usr/sbin/ip';
const PREFIX = 'vantage-services';

/** Creates the lab. Labs of test runs that died are removed first. */
export function createServicesLab(): ServicesLab {
  removeNamespaces((pid) => !isAlive(pid));
  const namespace = (node: LabNode): string => `${PREFIX}-${process.pid}-${node}`;
  const inside: ServicesLab['inside'] = (node) => [IP, 'netns', 'exec', namespace(node)];
  const remove = (): void => {
    process.removeListener('exit', remove);
    removeNamespaces((pid) => pid === process.pid);
  };
  process.once('exit', remove);
  try {
    build(namespace, inside);
  } catch (error) {
    remove();
    throw error;
  }
  return {
    inside,
    remove,
    run: (node, ...command) =>
      new Promise((resolve, reject) => {
        const [program, ...args] = [...inside(node), ...command];
        execFile(program!, args, { timeout: 60_000 }, (error, stdout, stderr) => {
          if (error === null) resolve(stdout);
          else reject(new Error(`${command.join(' ')}: ${stderr}`, { cause: error }));
        });
      }),
    start: (node, ...command) => {
      const [program, ...args] = [...inside(node), ...command];
      return spawn(program!, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    },
  };
}

function build(namespace: (node: LabNode) => string, inside: ServicesLab['inside']): void {
  // ICMP errors are exempt from rate limits: the kernel's limits are not under test.
  const settings = {
    'ipv4/ip_forward': 1,
    'ipv4/icmp_ratemask': 0,
    'ipv4/icmp_msgs_per_sec': 100_000,
    'ipv4/icmp_msgs_burst': 10_000,
    'ipv4/ping_group_range': '0 0',
    'ipv6/conf/all/forwarding': 1,
    'ipv6/conf/default/accept_dad': 0,
    'ipv6/conf/all/accept_dad': 0,
    'ipv6/icmp/ratelimit': 0,
  };
  const script = Object.entries(settings).map(([key, value]) => `echo ${value} > /proc/sys/net/${key}`);
  for (const node of labNodes) {
    ip(`netns add ${namespace(node)}`);
    const [program, ...args] = inside(node);
    execFileSync(program!, [...args, 'sh', '-ec', script.join('\n')], { stdio: 'pipe' });
    ip(`-n ${namespace(node)} link set lo up`);
  }
  for (const [network, near, far] of [
    [1, 'probe', 'router'],
    [2, 'router', 'target'],
  ] as const) {
    ip(`-n ${namespace(near)} link add link${network}a type veth peer name link${network}b netns ${namespace(far)}`);
    for (const [node, device, host] of [
      [near, `link${network}a`, 1],
      [far, `link${network}b`, 2],
    ] as const) {
      ip(`-n ${namespace(node)} link set ${device} up`);
      ip(`-n ${namespace(node)} address add ${address4(network, host)}/24 dev ${device}`);
      ip(`-n ${namespace(node)} address add ${address6(network, host)}/64 dev ${device} nodad`);
    }
  }
  for (const [node, network, host] of [
    ['probe', 1, 2],
    ['target', 2, 1],
  ] as const) {
    ip(`-n ${namespace(node)} route add default via ${address4(network, host)}`);
    ip(`-n ${namespace(node)} -6 route add default via ${address6(network, host)}`);
  }
  for (const network of [PROHIBITED, UNREACHABLE]) {
    ip(`-n ${namespace('router')} route add ${address4(network, 0)}/24 via ${address4(2, 2)}`);
    ip(`-n ${namespace('router')} -6 route add ${address6(network, 0)}/64 via ${address6(2, 2)}`);
  }
  ip(`-n ${namespace('router')} route add blackhole ${address4(BLACK_HOLE, 0)}/24`);
  ip(`-n ${namespace('router')} -6 route add blackhole ${address6(BLACK_HOLE, 0)}/64`);
}

function ip(line: string): void {
  execFileSync(IP, line.split(' '), { stdio: 'pipe' });
}

function removeNamespaces(isTheirs: (pid: number) => boolean): void {
  for (const name of namespaces()) {
    const pid = new RegExp(`^${PREFIX}-(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && isTheirs(Number(pid))) deleteNamespace(name);
  }
}

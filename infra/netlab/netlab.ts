import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';

import { configure, IP, removeNamespaces, removeOrphans, writeSettings } from './namespaces.ts';
import { impairments } from './impairments.ts';
import { hosts, ipv4, ipv6, links, nodes, routes, USER_LINK, type NodeName } from './topology.ts';
import { startUserLink } from './user-link.ts';

/** A network of kernel namespaces with a known topology. No packet leaves it. */
export interface Netlab {
  /** Runs a program inside a node. */
  readonly run: (node: NodeName, program: string, ...args: readonly string[]) => Promise<Finished>;
  /** Starts a program inside a node, with pipes to it. */
  readonly start: (node: NodeName, program: string, ...args: readonly string[]) => ChildProcess;
  /** Removes every namespace. Can be called again. */
  readonly remove: () => void;
}

export interface Finished {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number;
}

const PREFIX = 'vantage';
const RUN_TIMEOUT_MS = 60_000;

/** Why the lab cannot be created on this machine; null if it can. */
export function netlabMissing(): string | null {
  const name = `${PREFIX}-${process.pid}-try`;
  try {
    execFileSync(IP, ['netns', 'add', name], { stdio: 'pipe' });
    execFileSync(IP, ['netns', 'delete', name], { stdio: 'pipe' });
    accessSync('/dev/net/tun', constants.R_OK | constants.W_OK);
    execFileSync('python3', ['--version'], { stdio: 'pipe' });
    return null;
  } catch (error) {
    return `the test network cannot be made here: ${Error.isError(error) ? error.message.trim() : String(error)}`;
  }
}

/** Creates the network of `topology.ts`. Labs of test runs that died are removed first. */
export async function createNetlab(): Promise<Netlab> {
  removeOrphans(PREFIX);
  const namespace = (node: NodeName): string => `${PREFIX}-${process.pid}-${node}`;
  const children = new Set<ChildProcess>();
  const remove = (): void => {
    process.removeListener('exit', remove);
    for (const child of children) child.kill('SIGKILL');
    removeNamespaces((name) => name.startsWith(`${PREFIX}-${process.pid}-`));
  };
  process.once('exit', remove);
  const start: Netlab['start'] = (node, program, ...args) => {
    const command = ['netns', 'exec', namespace(node), program, ...args];
    const child = spawn(IP, command, { stdio: ['pipe', 'pipe', 'inherit'] });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  };
  try {
    configure(
      undefined,
      nodes.map((node) => `netns add ${namespace(node)}`),
    );
    for (const node of nodes) setUpNode(namespace(node), node);
    for (const [index, link] of links.entries()) addLink(namespace, index, link);
    await addUserLink(namespace, start);
    for (const node of nodes) addRoutes(namespace(node), node);
  } catch (error) {
    remove();
    throw error;
  }
  const run: Netlab['run'] = (node, program, ...args) =>
    new Promise((resolve) => {
      const command = ['netns', 'exec', namespace(node), program, ...args];
      const child = execFile(IP, command, { timeout: RUN_TIMEOUT_MS }, (_error, stdout, stderr) =>
        resolve({ stdout, stderr, status: child.exitCode ?? -1 }),
      );
    });
  return { run, start, remove };
}

function setUpNode(name: string, node: NodeName): void {
  const isLimited = node === 'limited';
  // Without limits on ICMP errors, except on `limited`: real routers may have them, and the tests compare results with
  // the ground truth.
  writeSettings(name, {
    'ipv4/ip_forward': 1,
    // The mask lifts the limit. An `icmp_ratelimit` of 0 would too, but empties the token bucket that route refusals
    // use.
    'ipv4/icmp_ratemask': isLimited ? 6_168 : 0,
    'ipv4/icmp_ratelimit': 1_000,
    'ipv4/icmp_msgs_per_sec': 100_000,
    'ipv4/icmp_msgs_burst': 10_000,
    'ipv4/fib_multipath_hash_policy': 1,
    'ipv4/conf/all/rp_filter': 0,
    'ipv4/conf/default/rp_filter': 0,
    'ipv6/conf/all/forwarding': 1,
    'ipv6/conf/default/accept_dad': 0,
    'ipv6/conf/all/accept_dad': 0,
    'ipv6/icmp/ratelimit': isLimited ? 4_000 : 0,
    'ipv6/fib_multipath_hash_policy': 1,
  });
  configure(name, ['link set lo up']);
  if (node !== 'silent') return;
  // Drops packets that the router itself sends to the probe; forwarded packets do not come from `lo`.
  configure(name, ['rule add pref 1 iif lo to 10.200.1.0/24 blackhole'], 4);
  configure(name, ['rule add pref 1 iif lo to fd00:200:1::/64 blackhole'], 6);
}

function addLink(
  namespace: (node: NodeName) => string,
  index: number,
  { number, sides, mtu }: (typeof links)[number],
): void {
  const [first, second] = sides;
  const [near, far] = [`to${index}a`, `to${index}b`];
  configure(namespace(first), [`link add ${near} type veth peer name ${far} netns ${namespace(second)}`]);
  for (const [node, device, side] of [
    [first, near, 1],
    [second, far, 2],
  ] as const) {
    if (mtu !== undefined) configure(namespace(node), [`link set ${device} mtu ${mtu}`]);
    setUp(namespace(node), device, number, side);
  }
}

async function addUserLink(namespace: (node: NodeName) => string, start: Netlab['start']): Promise<void> {
  const { number, sides } = USER_LINK;
  const [first, second] = sides;
  const [near, far] = ['user-near', 'user-far'];
  const router = { ipv4: ipv4(number, 77), ipv6: ipv6(number, 77) };
  await startUserLink((program, ...args) => start(first, program, ...args), { near, far, router, impairments });
  // The process keeps its handle of a device that is moved.
  configure(namespace(first), [`link set ${far} netns ${namespace(second)}`]);
  setUp(namespace(first), near, number, 1);
  setUp(namespace(second), far, number, 2);
}

function setUp(name: string, device: string, network: number, side: 1 | 2): void {
  configure(name, [
    `link set ${device} up`,
    `address add ${ipv4(network, side)}/24 dev ${device}`,
    `address add ${ipv6(network, side)}/64 dev ${device} nodad`,
  ]);
}

function addRoutes(name: string, node: NodeName): void {
  const hosted = (hosts[node] ?? []).flatMap((network) => [
    `address add ${ipv4(network, 99)}/32 dev lo`,
    `address add ${ipv6(network, 99)}/128 dev lo nodad`,
  ]);
  configure(name, hosted);
  const [routes4, routes6] = [
    routes[node].map((route) => `route add ${fill(route, (network) => `10.200.${network}.0/24`, ipv4)}`),
    routes[node].map((route) => `route add ${fill(route, (network) => `fd00:200:${network}::/64`, ipv6)}`),
  ];
  configure(name, routes4, 4);
  configure(name, routes6, 6);
}

function fill(
  route: string,
  prefix: (network: number) => string,
  address: (network: number, side: 1 | 2) => string,
): string {
  return route
    .replaceAll(/\{net (\d+)\}/g, (_, network) => prefix(Number(network)))
    .replaceAll(
      /\{via (\d+)\.([12])\}/g,
      (_, network, side) => `via ${address(Number(network), Number(side) as 1 | 2)}`,
    );
}

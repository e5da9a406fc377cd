import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';

import { configure, IP, removeNamespaces, removeOrphans, writeSettings } from '../namespaces.ts';
import { HUB } from './hub.ts';
import type { WorldPlan, WorldRequest } from './world.ts';

/**
 * A network of namespaces with the whole service: coordinator and Redis in one namespace, each agent in its own. No
 * packet leaves it.
 */
export interface ServiceLab {
  /** Runs a program in a node and returns what it prints. */
  readonly run: (node: string, program: string, ...args: readonly string[]) => string;
  /** Starts a program in a node, which ends with the lab. */
  readonly start: (node: string, program: string, ...args: readonly string[]) => void;
  /** Sends a request to the coordinator. */
  readonly ask: (request: WorldRequest) => Promise<WorldReply>;
  readonly close: () => Promise<void>;
}

export interface WorldReply {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of any endpoint
  readonly body: any;
}

export interface ServiceLabOptions extends Pick<WorldPlan, 'transport'> {
  /** Ends of each link with their addresses: `fra 62.1.1.2 m 62.1.1.1`. Prefixes have 24 bits. */
  readonly links: readonly string[];
  /** Arguments of `ip` in a node: `core: rule add …`. */
  readonly routes: readonly string[];
  /** Nodes with an agent, which is named as its node. */
  readonly probes: readonly string[];
  /** Content of `MONITORS_FILE`. */
  readonly monitors?: object;
}

const PREFIX = 'vantage-service';
const settings = {
  'ipv4/ip_forward': 1,
  'ipv4/conf/all/rp_filter': 0,
  'ipv4/conf/default/rp_filter': 0,
  'ipv4/icmp_ratemask': 0,
  'ipv4/icmp_msgs_per_sec': 100_000,
};

export async function openServiceLab(options: ServiceLabOptions): Promise<ServiceLab> {
  removeOrphans(PREFIX);
  const folder = mkdtempSync(join(tmpdir(), 'vantage-service-'));
  const children = new Set<ChildProcess>();
  const remove = (): void => {
    process.removeListener('exit', remove);
    for (const child of children) child.kill('SIGKILL');
    removeNamespaces((name) => name.startsWith(`${PREFIX}-${process.pid}-`));
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', remove);
  try {
    build(options);
    const { ask, end } = await startService(options, folder, children);
    const close = async (): Promise<void> => {
      await end();
      remove();
    };
    const run: ServiceLab['run'] = (node, program, ...args) =>
      execFileSync(IP, ['netns', 'exec', named(node), program, ...args], { encoding: 'utf8', stdio: 'pipe' });
    const startIn: ServiceLab['start'] = (node, program, ...args) => {
      children.add(spawn(IP, ['netns', 'exec', named(node), program, ...args], { stdio: 'ignore' }));
    };
    return { run, start: startIn, ask, close };
  } catch (error) {
    remove();
    throw error;
  }
}

const named = (node: string): string => `${PREFIX}-${process.pid}-${node}`;

/** Starts a program of the repository in a node. */
function start(node: string, path: string, env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const file = fileURLToPath(new URL(path, import.meta.url));
  const command = ['netns', 'exec', named(node), process.execPath, '--conditions=vantage-source', file, ...args];
  return spawn(IP, command, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: programEnv({ NODE_NO_WARNINGS: '1', ...env }),
  });
}

interface Service {
  readonly ask: ServiceLab['ask'];
  readonly end: () => Promise<void>;
}

async function startService(
  { probes, transport, monitors = {} }: ServiceLabOptions,
  folder: string,
  children: Set<ChildProcess>,
): Promise<Service> {
  const monitorsFile = join(folder, 'monitors.yml');
  // JSON is valid YAML.
  writeFileSync(monitorsFile, JSON.stringify({ monitors }));
  const world = start('hub', 'world.ts', {}, JSON.stringify({ probes, transport, monitorsFile } satisfies WorldPlan));
  children.add(world);
  const lines = createInterface({ input: world.stdout })[Symbol.asyncIterator]();
  const read = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('The service in the lab has ended.');
    return JSON.parse(value);
  };
  const { tokens } = (await read()) as { readonly tokens: Readonly<Record<string, string>> };
  for (const probe of probes) {
    const toGateway = {
      VANTAGE_URL: `http://${HUB}:8080`,
      VANTAGE_TOKEN: tokens[probe] ?? '',
      VANTAGE_STATE_FOLDER: join(folder, probe),
    };
    const agent = start(probe, bundledProgram('probe-agent'), {
      ...(transport === 'redis' ? { PROBE_ID: probe, REDIS_URL: `redis://${HUB}:6379` } : toGateway),
      LOG_LEVEL: 'silent',
      SCREENSHOTS: 'off',
      DNS_SERVERS: `${HUB}:53`,
    });
    children.add(agent);
    agent.stdout.resume();
  }
  return {
    ask: async (request) => {
      world.stdin.write(`${JSON.stringify(request)}\n`);
      return (await read()) as WorldReply;
    },
    end: async () => {
      const ended = once(world, 'exit');
      world.stdin.end();
      await ended;
    },
  };
}

function build({ links, routes, probes }: ServiceLabOptions): void {
  const ends = links.map((line) => line.split(' ') as [a: string, ofA: string, b: string, ofB: string]);
  for (const node of new Set(['hub', ...ends.flatMap(([a, , b]) => [a, b])])) {
    configure(undefined, [`netns add ${named(node)}`]);
    configure(named(node), ['link set lo up']);
    writeSettings(named(node), settings);
  }
  const connect = (device: string, [a, ofA, b, ofB]: (typeof ends)[number]): void => {
    configure(named(a), [
      `link add ${device}a type veth peer name ${device}b netns ${named(b)}`,
      `address add ${ofA}/24 dev ${device}a`,
      `link set ${device}a up`,
    ]);
    configure(named(b), [`address add ${ofB}/24 dev ${device}b`, `link set ${device}b up`]);
  };
  for (const [index, link] of ends.entries()) connect(`l${index}`, link);
  configure(named('hub'), [`address add ${HUB}/32 dev lo`]);
  for (const [index, probe] of probes.entries()) {
    connect(`h${index}`, ['hub', `10.66.${index + 1}.1`, probe, `10.66.${index + 1}.2`]);
    configure(named(probe), [`route add ${HUB}/32 via 10.66.${index + 1}.1`]);
  }
  const ofNodes = Map.groupBy(routes, (line) => line.split(': ', 1)[0]!);
  for (const [node, lines] of ofNodes) {
    configure(
      named(node),
      lines.map((line) => line.slice(node.length + 2)),
    );
  }
}

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';

import { IP, removeNamespaces, removeOrphans } from '../../netlab/namespaces.ts';
import type { LinkImpairments } from '../../netlab/impairments.ts';
import { startUserLink } from '../../netlab/user-link.ts';

/** A path over the link, with a separate address at the far end. */
export interface Path {
  readonly name: string;
  readonly address: string;
  readonly rttMs: number;
}

const lossless = (rttMs: number): Path => ({ name: `${rttMs} ms`, address: `10.200.${rttMs}.99`, rttMs });

export const paths = { near: lossless(50), far: lossless(150) } as const;
export const lossyPath: Path = { name: '50 ms with 1 % loss each way', address: '10.200.51.99', rttMs: 50 };
/** A path with half of its delay in each direction. */
export const evenPath: Path = { name: '50 ms, 25 each way', address: '10.200.52.99', rttMs: 50 };

const impairments: Readonly<Record<number, LinkImpairments>> = {
  50: { delayMs: 50 },
  51: { delayMs: 50, loseShare: 0.01 },
  52: { delayMs: 25, delayBackMs: 25 },
  150: { delayMs: 150 },
};

/** Two network namespaces with a link in user space between them: its delay needs no kernel module, such as netem. */
export interface LinkLab {
  /** Prefix of a command that runs it on the probe's side, or on the servers'. */
  readonly inside: (side: Side) => readonly string[];
  /** Lets programs on the probe's side resolve names over a path. */
  readonly resolveOver: (path: Path) => void;
  readonly remove: () => void;
}

type Side = 'probe' | 'servers';

const PREFIX = 'vantage-links';
/** Length of a link's queue, in which a flight of 1 MB fits. */
const QUEUE_PACKETS = 4_000;

export async function createLinkLab(): Promise<LinkLab> {
  removeOrphans(PREFIX);
  const nameOf = (side: Side): string => `${PREFIX}-${process.pid}-${side}`;
  const inside: LinkLab['inside'] = (side) => [IP, 'netns', 'exec', nameOf(side)];
  const settings = `/etc/netns/${nameOf('probe')}`;
  // The link ends with its standard input.
  let link: ChildProcess | undefined;
  const remove = (): void => {
    process.removeListener('exit', remove);
    link?.stdin?.end();
    removeNamespaces((name) => name.startsWith(`${PREFIX}-${process.pid}-`));
    rmSync(settings, { recursive: true, force: true });
  };
  process.once('exit', remove);
  try {
    for (const side of ['probe', 'servers'] as const) addSide(nameOf(side), inside(side));
    const plan = { near: 'near', far: 'far', router: { ipv4: '10.200.9.77', ipv6: 'fd00:200:9::77' }, impairments };
    link = await startUserLink((program, ...args) => spawnInside(inside('probe'), program, args), plan);
    ip(`-n ${nameOf('probe')} link set far netns ${nameOf('servers')}`);
    setUp(nameOf('probe'), 'near', '10.200.9.1/24', '10.200.9.2');
    setUp(nameOf('servers'), 'far', '10.200.9.2/24', '10.200.9.1');
    for (const { address } of [...Object.values(paths), lossyPath, evenPath]) {
      ip(`-n ${nameOf('servers')} address add ${address}/32 dev lo`);
    }
  } catch (error) {
    remove();
    throw error;
  }
  const resolveOver = ({ address }: Path): void => {
    mkdirSync(settings, { recursive: true });
    writeFileSync(`${settings}/resolv.conf`, `nameserver ${address}\n`);
  };
  return { inside, resolveOver, remove };
}

function spawnInside(inside: readonly string[], program: string, args: readonly string[]): ChildProcess {
  const [command, ...words] = [...inside, program, ...args];
  return spawn(command!, words, { stdio: ['pipe', 'pipe', 'inherit'] });
}

function addSide(name: string, inside: readonly string[]): void {
  ip(`netns add ${name}`);
  ip(`-n ${name} link set lo up`);
  // The kernel caches metrics of a route, which would speed up the next connection.
  const [command, ...words] = [...inside, 'sh', '-ec', 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save'] as const;
  execFileSync(command, words, { stdio: 'pipe' });
}

function setUp(name: string, device: string, address: string, via: string): void {
  ip(`-n ${name} link set ${device} up txqueuelen ${QUEUE_PACKETS}`);
  ip(`-n ${name} address add ${address} dev ${device}`);
  ip(`-n ${name} route add default via ${via}`);
}

function ip(command: string): void {
  execFileSync(IP, command.split(' '), { stdio: 'pipe' });
}

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { IP, removeOrphans, removeNamespaces } from '../netlab/namespaces.ts';
import { probeAddress, PROBES } from './addresses.ts';
import { worldOf, type Case } from './compile.ts';

/** Four probes, each in a namespace whose only way out is the TUN device of the simulator. */
export interface Internet {
  /** Starts a program at a probe, with pipes to it. */
  readonly start: (probe: number, program: string, ...args: readonly string[]) => ChildProcess;
  /** Ends the simulator; its log is complete then. */
  readonly stop: () => Promise<void>;
  /** Removes every namespace. Can be called again. */
  readonly remove: () => void;
}

const PREFIX = 'vantage-simulator';
/** Length of the queue to the simulator: a packet that finds it full is lost, and is not in the log. */
const QUEUE_PACKETS = 100_000;

/** Creates the internet of the cases. Namespaces of runs that died are removed first. */
export async function createInternet(cases: readonly Case[], seed: number, logFile: string): Promise<Internet> {
  removeOrphans(PREFIX);
  const namespace = (probe: number): string => `${PREFIX}-${process.pid}-${PROBES[probe]}`;
  // Unique names: the devices are created in the machine's namespace and then moved.
  const devices = PROBES.map((_, probe) => `sim${process.pid}.${probe}`);
  const children = new Set<ChildProcess>();
  const keep = (child: ChildProcess): ChildProcess => {
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  };
  const remove = (): void => {
    process.removeListener('exit', remove);
    for (const child of children) child.kill('SIGKILL');
    removeNamespaces((name) => name.startsWith(`${PREFIX}-${process.pid}-`));
  };
  process.once('exit', remove);
  try {
    const simulator = keep(startSimulator());
    const isReady = once(simulator.stdout!, 'data').then(() => true);
    const hasEnded = once(simulator, 'exit');
    simulator.stdin!.write(`${JSON.stringify(worldOf(cases, devices, logFile, seed))}\n`);
    if (!(await Promise.race([isReady, hasEnded.then(() => false)]))) throw new Error('The simulator did not start.');
    for (const [probe, device] of devices.entries()) addProbe(namespace(probe), device, probe);
    const stop = async (): Promise<void> => {
      simulator.stdin!.end();
      await hasEnded;
    };
    const start: Internet['start'] = (probe, program, ...args) =>
      keep(spawn(IP, ['netns', 'exec', namespace(probe), program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] }));
    return { start, stop, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function startSimulator(): ChildProcess {
  const program = fileURLToPath(new URL('internet/main.py', import.meta.url));
  return spawn('python3', ['-IB', program], { stdio: ['pipe', 'pipe', 'inherit'] });
}

function addProbe(name: string, device: string, probe: number): void {
  const ip = (line: string): Buffer => execFileSync(IP, line.split(' '), { stdio: 'pipe' });
  ip(`netns add ${name}`);
  ip(`link set ${device} netns ${name}`);
  ip(`-n ${name} link set lo up`);
  ip(`-n ${name} link set ${device} txqueuelen ${QUEUE_PACKETS}`);
  ip(`-n ${name} link set ${device} up`);
  ip(`-n ${name} address add ${probeAddress(4, probe)}/32 dev ${device}`);
  ip(`-n ${name} address add ${probeAddress(6, probe)}/128 dev ${device} nodad`);
  ip(`-n ${name} route add default dev ${device}`);
  ip(`-n ${name} -6 route add default dev ${device}`);
}

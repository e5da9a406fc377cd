import { median, type Figure } from '../goals.ts';
import type { BareCpu, BareService } from './bare.ts';
import type { BenchCheck } from './checks.ts';
import { treeCpuMs } from './processes.ts';
import type { Pace } from './run-checks.ts';
import type { Stage } from './stage.ts';

/** CPU time, milliseconds. */
export interface Used {
  readonly agent: number;
  readonly exporter: number;
  readonly coordinator: number;
  readonly redis: number;
}

/** Highest allowed CPU time of a check, as a multiple of the exporter’s, by checks per second. */
const ALLOWED = new Map([
  [20, 1.3],
  [100, 1],
]);
const SERVICE_MS = 1.5;

/** Runs checks, calls `measured` when the last one has settled, and returns the number of successful ones. */
export type Count = (check: BenchCheck, pace: Pace, measured: () => void) => Promise<number>;

/** CPU per check of one type at one rate, alternately with that of its floor: the medians of the rounds. */
export async function cpuOfChecks(
  { stage, bare, count }: { readonly stage: Stage; readonly bare: BareService; readonly count: Count },
  check: BenchCheck,
  pace: Pace,
  rounds: number,
): Promise<readonly Figure[]> {
  const spent: Used[] = [];
  const floors: BareCpu[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const used = countCpu(stage);
    let total: Used | undefined;
    const succeeded = await count(check, pace, () => (total = used()));
    // Divided by the successes: a check that the service refused cost the agent nothing.
    if (succeeded > 0) spent.push(perCheck(total!, succeeded, pace.checks));
    floors.push(await bare.run(check.type, pace));
  }
  return figuresOf(check, pace, spent, floors);
}

function figuresOf(
  { type }: BenchCheck,
  { perSecond }: Pace,
  spent: readonly Used[],
  floors: readonly BareCpu[],
): readonly Figure[] {
  const each = (name: keyof Used): number => median(spent.map((used) => used[name]));
  const bare = (name: keyof BareCpu): number => median(floors.map((used) => used[name]));
  const name = `${type} at ${perSecond} a second`;
  const work = type === 'ping' ? 'that does nothing' : `with a bare ${type === 'tcp' ? 'handshake' : 'request'}`;
  const comparison = `blackbox exporter: ${each('exporter').toFixed(2)} ms; BullMQ worker ${work}: ${bare('worker').toFixed(2)} ms`;
  const atMost = ALLOWED.get(perSecond);
  const service: Figure = {
    name: `${name}: CPU of coordinator and Redis`,
    value: median(spent.map(({ coordinator, redis }) => coordinator + redis)),
    unit: 'ms',
    floor: median(floors.map(({ server, redis }) => server + redis)),
    comparison:
      `${each('coordinator').toFixed(2)} and ${each('redis').toFixed(2)} ms; bare Express and its Redis: ` +
      `${bare('server').toFixed(2)} and ${bare('redis').toFixed(2)} ms`,
  };
  return [
    { name: `${name}: CPU of the agent`, value: each('agent'), unit: 'ms', comparison },
    {
      name: `${name}: CPU, exporter = 1`,
      value: median(spent.map(({ agent, exporter }) => agent / exporter)),
      unit: '×',
      floor: bare('worker') / each('exporter'),
      ...(atMost === undefined ? {} : { atMost }),
    },
    type === 'tcp' && perSecond === 20 ? { ...service, atMost: SERVICE_MS } : service,
  ];
}

function perCheck({ agent, exporter, coordinator, redis }: Used, succeeded: number, probed: number): Used {
  return {
    agent: agent / succeeded,
    exporter: exporter / probed,
    coordinator: coordinator / succeeded,
    redis: redis / succeeded,
  };
}

/** @returns a function that gives the CPU time since this call, milliseconds */
export function countCpu({ deployment, exporter }: Stage): () => Used {
  const { redis, coordinator, agents } = deployment.pids;
  const read = (): Used => ({
    agent: treeCpuMs(agents[0]!),
    exporter: treeCpuMs(exporter.pid),
    coordinator: treeCpuMs(coordinator),
    redis: treeCpuMs(redis),
  });
  const before = read();
  return () => {
    const now = read();
    const since = (name: keyof Used): number => now[name] - before[name];
    return {
      agent: since('agent'),
      exporter: since('exporter'),
      coordinator: since('coordinator'),
      redis: since('redis'),
    };
  };
}

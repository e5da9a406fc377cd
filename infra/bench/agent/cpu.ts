import { median, type Figure } from '../goals.ts';
import type { BareCpu, BareService } from './bare.ts';
import type { ComparedCheck } from './checks.ts';
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

/** Goals of a check's CPU time, the exporter's = 1, by the rate. */
const ALLOWED = new Map([
  [20, 1.3],
  [100, 1],
]);
const SERVICE_MS = 1.5;

/** Runs checks, calls `measured` when the last one has settled, and returns the number of successful ones. */
export type Count = (check: ComparedCheck, pace: Pace, measured: () => void) => Promise<number>;

/** CPU per check of one type at one rate, the median of some rounds. */
export async function cpuOfChecks(
  stage: Stage,
  check: ComparedCheck,
  pace: Pace,
  rounds: number,
  count: Count,
): Promise<readonly Figure[]> {
  const spent: Used[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const used = countCpu(stage);
    let total: Used | undefined;
    const succeeded = await count(check, pace, () => (total = used()));
    // A check that the service temporarily refused cost the agent nothing.
    if (succeeded > 0) spent.push(perCheck(total!, succeeded, pace.checks));
  }
  const each = (name: keyof Used): number => median(spent.map((used) => used[name]));
  const ratio = median(spent.map(({ agent, exporter }) => agent / exporter));
  const name = `${check.type} at ${pace.perSecond} a second`;
  const comparison = `blackbox exporter: ${each('exporter').toFixed(2)} ms`;
  const atMost = ALLOWED.get(pace.perSecond);
  const service: Figure = {
    name: `${name}: CPU of coordinator and Redis`,
    value: median(spent.map(({ coordinator, redis }) => coordinator + redis)),
    unit: 'ms',
    comparison: `${each('coordinator').toFixed(2)} and ${each('redis').toFixed(2)} ms`,
  };
  return [
    { name: `${name}: CPU of the agent`, value: each('agent'), unit: 'ms', comparison },
    {
      name: `${name}: CPU, exporter = 1`,
      value: ratio,
      unit: '×',
      ...(atMost === undefined ? {} : { atMost }),
      comparison,
    },
    check.type === 'tcp' && pace.perSecond === 20 ? { ...service, atMost: SERVICE_MS } : service,
  ];
}

/** The floor of a check in coordinator and Redis, at the same rate. */
export async function cpuOfBare(bare: BareService, pace: Pace, rounds: number): Promise<readonly Figure[]> {
  const spent: BareCpu[] = [];
  for (let round = 0; round < rounds; round += 1) spent.push(await bare.run(pace));
  const each = (name: keyof BareCpu): number => median(spent.map((used) => used[name]));
  return [
    {
      name: `bare Express and one BullMQ job at ${pace.perSecond} a second: CPU of the server and Redis`,
      value: median(spent.map(({ server, redis }) => server + redis)),
      unit: 'ms',
      comparison: `${each('server').toFixed(2)} and ${each('redis').toFixed(2)} ms; its worker: ${each('worker').toFixed(2)} ms`,
    },
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

/** @returns a function that gives the CPU time since this call */
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

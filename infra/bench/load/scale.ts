import { median, type Figure } from '../goals.ts';
import { evaluateRate, sum } from './generate.ts';
import { tryRate } from './hold-rate.ts';
import { countCpu } from './processes.ts';
import { onStage, PROBES, type Lengths, type Stage } from './stage.ts';

/** Probe runs per second, at one service at a time: few, so that processes hardly wait for a core. */
const RATE = 200;
/** Seconds at `RATE` before the first turn, in which V8 compiles what a coordinator runs often. */
const WARM_UP_SECONDS = 40;
const TURNS = 5;
const MASTERS = 3;
const JOB_MS = 20;

/** CPU time of one turn per probe run, µs. */
interface Measured {
  readonly busiestRedis: number;
  readonly allRedis: number;
  readonly coordinators: number;
  readonly why: string;
}

/**
 * The gain of a Redis Cluster and of a second coordinator, by CPU time: each Redis and each coordinator has one thread
 * that bounds the rate. Three services, loaded in turns: one Redis with one coordinator, a cluster with one, one Redis
 * with two.
 */
export async function scale(lengths: Lengths): Promise<readonly Figure[]> {
  const common = { probes: PROBES, agents: 'simulated', lastsMs: JOB_MS } as const;
  return onStage(common, (one) =>
    onStage({ ...common, masters: MASTERS }, (cluster) =>
      onStage(common, async (two) => {
        await two.addCoordinator();
        const stages = [one, cluster, two];
        for (const stage of stages) await tryRate(stage, RATE, { seconds: WARM_UP_SECONDS, warmUpSeconds: 0 });
        const turns: (readonly Measured[])[] = [];
        for (let turn = 0; turn < TURNS; turn += 1) {
          const measured: Measured[] = [];
          for (const stage of stages) measured.push(await measure(stage, lengths));
          turns.push(measured);
        }
        return figuresOf(turns);
      }),
    ),
  );
}

async function measure(stage: Stage, { trySeconds, warmUpSeconds }: Lengths): Promise<Measured> {
  const { redis, coordinators } = stage.pids;
  const cpu = countCpu({ coordinators, ...Object.fromEntries(redis.map((pid) => [`redis ${pid}`, [pid]])) });
  const times = { seconds: trySeconds, warmUpSeconds };
  const reports = await tryRate(stage, RATE, times);
  const used: Readonly<Record<string, number>> = cpu();
  const runs = sum(reports, ({ perSecond }) => perSecond.probeRuns) * (trySeconds + warmUpSeconds);
  const perRun = (ms: number): number => (ms / runs) * 1_000;
  const nodes = redis.map((pid) => perRun(used[`redis ${pid}`]!));
  return {
    busiestRedis: Math.max(...nodes),
    allRedis: sum(nodes, (node) => node),
    coordinators: perRun(used['coordinators']!),
    why: evaluateRate(reports, RATE).why,
  };
}

function figuresOf(turns: readonly (readonly Measured[])[]): readonly Figure[] {
  const gain = (name: string, of: (turn: readonly Measured[]) => number, goal: object, comparison: string): Figure => {
    const gains = turns.map(of);
    const each = gains.map((value) => value.toFixed(2)).join(', ');
    return { name, value: median(gains), unit: 'times the rate', ...goal, comparison: `${each}; ${comparison}` };
  };
  const typical = (of: (turn: readonly Measured[]) => number): string => median(turns.map(of)).toFixed(0);
  const coordinatorOnCluster = turns.map(([one, cluster]) => cluster!.coordinators / one!.coordinators);
  return [
    gain(
      `${MASTERS} masters instead of one Redis, by the CPU time of the busiest`,
      ([one, cluster]) => one!.busiestRedis / cluster!.busiestRedis,
      {},
      `${typical(([, cluster]) => cluster!.busiestRedis)} µs a probe-run of ${typical(([, cluster]) => cluster!.allRedis)} of all three, ${typical(([one]) => one!.busiestRedis)} with one`,
    ),
    {
      name: `CPU of a coordinator on ${MASTERS} masters, on one Redis = 1`,
      value: median(coordinatorOnCluster),
      unit: '×',
      comparison: coordinatorOnCluster.map((value) => value.toFixed(2)).join(', '),
    },
    gain(
      'two coordinators instead of one, by their CPU time',
      ([one, , two]) => (2 * one!.coordinators) / two!.coordinators,
      { atLeast: 1.6 },
      `${typical(([, , two]) => two!.coordinators)} µs a probe-run, ${typical(([one]) => one!.coordinators)} with one; ${turns.at(-1)!.at(-1)!.why}`,
    ),
  ];
}

import { setTimeout as sleep } from 'node:timers/promises';

import { median, quantile, type Figure } from '../goals.ts';
import { startBareBullmq } from './bare-bullmq.ts';
import { countCommands, total } from './commands.ts';
import { startDelayingProxy, type DelayingProxy } from './delaying-proxy.ts';
import { residentMiB, startDeployment, type Deployment } from './deployment.ts';
import { startTarget, type TcpTarget } from './target.ts';

const WARM_UP = 300;
const ROUNDS = 150;
const RTT_MS = 100;
/** Pause between the round trips of the service and of its floor: a check arrives at an idle service. */
const PAUSE_MS = 50;

/** Overhead of the service per measurement: commands, time and memory. */
export async function overhead(): Promise<readonly Figure[]> {
  const target = await startTarget();
  const near = await startDeployment({ probes: 5 });
  const figures: Figure[] = [];
  try {
    await sleep(8_000);
    figures.push(
      { name: 'memory of an idle agent', value: median(near.pids.agents.map(residentMiB)), unit: 'MiB' },
      { name: 'memory of an idle coordinator', value: residentMiB(near.pids.coordinator), unit: 'MiB' },
      ...(await times(near, target)),
      ...(await commands(near, target)),
    );
  } finally {
    await near.stop();
  }
  figures.push(...(await farTimes(target)));
  target.close();
  return figures;
}

interface Times {
  readonly toStart: number;
  readonly toVisible: number;
}

/** One check on one probe, from the POST to the response of a waiting reader. */
async function run({ client }: Deployment, target: TcpTarget): Promise<void> {
  const { checkId } = await client.startCheck({
    type: 'tcp',
    host: '127.0.0.1',
    port: target.port,
    probes: ['bench-1'],
    options: { attempts: 1 },
  });
  await client.results(checkId, { waitSeconds: 10 });
}

/** One check on one probe: from the POST to the packet, and from the packet to the response of a waiting reader. */
async function one(deployment: Deployment, target: TcpTarget): Promise<Times> {
  const arrival = target.arrivals(1);
  const posted = performance.now();
  await run(deployment, target);
  const visible = performance.now();
  const [started] = await arrival;
  return { toStart: started! - posted, toVisible: visible - started! };
}

export async function times(deployment: Deployment, target: TcpTarget): Promise<readonly Figure[]> {
  const floor = await startBareBullmq(deployment.redisPort);
  const ours: Times[] = [];
  const bare: number[] = [];
  // Alternately, so that a slow moment of the machine affects both; after a warm-up, as in a service that has been
  // running.
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const isWarm = round >= WARM_UP;
    if (isWarm) await sleep(PAUSE_MS);
    const times = await one(deployment, target);
    if (isWarm) await sleep(PAUSE_MS);
    const started = performance.now();
    await floor.roundTrip();
    if (!isWarm) continue;
    bare.push(performance.now() - started);
    ours.push(times);
  }
  await floor.close();
  const sums = ours.map(({ toStart, toVisible }) => toStart + toVisible);
  const comparison = `bare BullMQ round trip: ${median(bare).toFixed(2)} ms`;
  return [
    { name: 'POST to job start', value: median(ours.map(({ toStart }) => toStart)), unit: 'ms' },
    { name: 'end of measurement to visible', value: median(ours.map(({ toVisible }) => toVisible)), unit: 'ms' },
    { name: 'sum on loopback', value: median(sums), unit: 'ms', comparison },
    {
      name: 'sum on loopback, bare BullMQ = 1',
      value: median(sums) / median(bare),
      unit: '×',
      atMost: 2.5,
      comparison,
    },
  ];
}

/** Commands that clients send to Redis per probe run, without those sent when idle and those for reading. */
async function commands(deployment: Deployment, target: TcpTarget): Promise<readonly Figure[]> {
  const counter = await countCommands(deployment.redisPort);
  const idlePerSecond = await (async () => {
    counter.take();
    await sleep(10_000);
    return total(counter.take()) / 10;
  })();
  const perRun = async (runs: number, checks: number, everyMs: number, probes: readonly string[]): Promise<Spent> => {
    const arrivals = target.arrivals(runs);
    const started = performance.now();
    for (let sent = 0; sent < checks; sent += 1) {
      const due = started + sent * everyMs;
      if (due > performance.now()) await sleep(due - performance.now());
      void start(deployment, target, probes);
    }
    await arrivals;
    await sleep(1_000);
    const seconds = (performance.now() - started) / 1_000;
    const counts = counter.take();
    return { value: (total(counts) - idlePerSecond * seconds) / runs, comparison: byName(counts, runs) };
  };
  const five = Array.from({ length: 5 }, (_, index) => `bench-${index + 1}`);
  const spread = await perRun(500, 100, 100, five);
  const dense = await perRun(1_000, 1_000, 5, ['bench-1']);
  const single = await perRun(200, 200, 50, ['bench-1']);
  counter.close();
  return [
    { name: 'commands when idle, five probes', value: idlePerSecond, unit: 'a second' },
    { name: 'commands per probe-run, five probes a check', ...spread, unit: 'commands', atMost: 14 },
    { name: 'commands per probe-run, 200 a second on one probe', ...dense, unit: 'commands', atMost: 8 },
    { name: 'commands per probe-run, 20 a second on one probe', ...single, unit: 'commands' },
  ];
}

/**
 * Starts a check, and repeats the request while it fails, as on a busy machine, so that all planned runs take place.
 */
async function start({ client }: Deployment, { port }: TcpTarget, probes: readonly string[]): Promise<void> {
  for (let isStarted = false; !isStarted;) {
    isStarted = await client
      .startCheck({ type: 'tcp', host: '127.0.0.1', port, probes, options: { attempts: 1 } })
      .then(() => true)
      .catch(() => sleep(50, false));
  }
}

interface Spent {
  readonly value: number;
  readonly comparison: string;
}

/**
 * Redis commands per run by name, those sent while idle included, most frequent first; commands below 0.05 per run are
 * omitted.
 */
function byName(counts: ReadonlyMap<string, number>, runs: number): string {
  const spent = [...counts].map(([name, count]) => [name, count / runs] as const).filter(([, each]) => each >= 0.05);
  return spent
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, each]) => `${name} ${each.toFixed(2)}`)
    .join(', ');
}

/** Times of single checks and of bursts of ten with a round trip of `RTT_MS` between agent and Redis. */
async function farTimes(target: TcpTarget): Promise<readonly Figure[]> {
  let proxy: DelayingProxy | undefined;
  const far = await startDeployment({
    probes: 1,
    agentRedisPort: async (port) => {
      proxy = await startDelayingProxy(port, RTT_MS / 2);
      return proxy.port;
    },
  });
  try {
    await sleep(2_000);
    for (let round = 0; round < 3; round += 1) await one(far, target);
    const singles: number[] = [];
    const lasts: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      const { toStart, toVisible } = await one(far, target);
      singles.push(toStart + toVisible);
      // Bursts meet the agent at any moment of its loop.
      await sleep(300 + 137 * round);
      const posted = performance.now();
      await Promise.all(Array.from({ length: 10 }, () => run(far, target)));
      lasts.push(performance.now() - posted);
      await sleep(300);
    }
    return [
      { name: 'single at 100 ms RTT', value: median(singles), unit: 'ms', atMost: 2.1 * RTT_MS + 5 },
      { name: 'single at 100 ms RTT, p95', value: quantile(singles, 0.95), unit: 'ms' },
      { name: 'last of ten at 100 ms RTT', value: median(lasts), unit: 'ms', atMost: 3.2 * RTT_MS + 10 },
      { name: 'last of ten at 100 ms RTT, p95', value: quantile(lasts, 0.95), unit: 'ms' },
    ];
  } finally {
    await far.stop();
    proxy?.close();
  }
}

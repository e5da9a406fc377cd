import { setTimeout as sleep } from 'node:timers/promises';

import { findRedisServer, startRedisServer } from '@vantage/redis-server';

import { countCpu, end, startWorker } from './processes.ts';

/** Cost and throughput of jobs in a bare BullMQ: the floor of a probe run. */
export interface BareQueue {
  /** CPU of Redis, producer and workers per job at the requested rate, µs. */
  readonly cpuUs: number;
  /** Jobs per second while `OUTSTANDING` jobs are always waiting. */
  readonly saturatedAt: number;
  /** Jobs that were added and have not finished. */
  readonly lost: number;
}

/** Waiting jobs at maximum throughput: enough to keep every process busy, few enough to bound the queue. */
const OUTSTANDING = 2_000;
const EVERY_MS = 10;
const WORKER = new URL('bare-queue-worker.ts', import.meta.url);

/** Redis, producer and workers of a bare BullMQ. */
export interface RunningBareQueue {
  readonly pids: { readonly redis: number; readonly producer: number; readonly workers: number };
  /** Adds up to this many jobs in total. */
  readonly addUpTo: (total: number) => void;
  readonly ended: () => number;
  /** Adds jobs, one per queue in turn, and resolves when they have ended. */
  readonly run: (jobs: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** @param lastsMs duration of each job */
export async function startBareQueue(probes: number, lastsMs: number): Promise<RunningBareQueue> {
  const redis = await startRedisServer({ executable: findRedisServer(process.env['PATH'] ?? '')! });
  const start = async (side: string): ReturnType<typeof startWorker> =>
    startWorker(WORKER, [side, String(redis.port), String(probes), String(lastsMs)]);
  const [producer, workers] = [await start('producer'), await start('workers')];
  let [added, ended] = [0, 0];
  workers.child.on('message', (count: number) => (ended = count));
  const addUpTo = (total: number): void => {
    added = total;
    producer.child.send(total);
  };
  return {
    pids: { redis: redis.pid, producer: producer.child.pid!, workers: workers.child.pid! },
    addUpTo,
    ended: () => ended,
    run: async (jobs) => {
      addUpTo(added + jobs);
      while (ended < added) await sleep(EVERY_MS);
    },
    stop: async () => {
      await Promise.all([end(producer.child), end(workers.child)]);
      await redis.stop();
    },
  };
}

/** @param lastsMs duration of each job */
export async function bareQueue(
  probes: number,
  lastsMs: number,
  perSecond: number,
  times: { readonly warmUpSeconds: number; readonly trySeconds: number },
): Promise<BareQueue> {
  const queue = await startBareQueue(probes, lastsMs);
  const { ended, addUpTo } = queue;
  const pids = { all: Object.values(queue.pids) };
  let added = 0;

  /** Adds jobs for this many seconds, in total as many as `wanted` returns for the elapsed milliseconds. */
  const drive = async (seconds: number, wanted: (sinceMs: number) => number): Promise<void> => {
    const started = performance.now();
    for (let sinceMs = 0; sinceMs < seconds * 1_000; sinceMs = performance.now() - started) {
      added = Math.max(added, Math.floor(wanted(sinceMs)));
      addUpTo(added);
      await sleep(EVERY_MS);
    }
  };
  const settled = async (): Promise<void> => {
    for (let left = 500; ended() < added && left > 0; left -= 1) await sleep(EVERY_MS);
  };
  try {
    const even = (seconds: number): Promise<void> => {
      const before = added;
      return drive(seconds, (sinceMs) => before + (sinceMs / 1_000) * perSecond);
    };
    await even(times.warmUpSeconds);
    await settled();
    const cpu = countCpu(pids);
    const before = ended();
    await even(times.trySeconds);
    await settled();
    const cpuUs = (cpu().all / (ended() - before)) * 1_000;
    const most = (): number => ended() + OUTSTANDING;
    await drive(times.warmUpSeconds, most);
    const [from, startedMs] = [ended(), performance.now()];
    await drive(times.trySeconds, most);
    const saturatedAt = (ended() - from) / ((performance.now() - startedMs) / 1_000);
    await settled();
    return { cpuUs, saturatedAt, lost: added - ended() };
  } finally {
    await queue.stop();
  }
}

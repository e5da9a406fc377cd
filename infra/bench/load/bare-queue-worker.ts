import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

/**
 * One side of a bare BullMQ with the same work as for a probe run: a job with the same data in one queue per probe,
 * whose worker stores the same result in Redis. The producer adds jobs up to a count that it receives; the workers
 * report the number of finished jobs.
 */
const [, , side = '', port = '', probes = '0', lastsMs = '0'] = process.argv;
/** Concurrent jobs per probe, as many as a simulated agent runs. */
const AT_ONCE = 20;
const REPORT_EVERY_MS = 20;

const file = new URL('../../../packages/contract/test/release-0.1.json', import.meta.url);
const { types } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly types: Readonly<Record<string, { readonly result: object; readonly job: object }>>;
};
/** Types of ten jobs, in the shares that the generator has by default. */
const names = ['ping', 'http', 'dns', 'ping', 'http', 'tcp', 'ping', 'http', 'dns', 'ping'];
const numbers = Array.from({ length: Number(probes) }, (_, index) => index);
const prefixOf = (probe: number): string => `p:{bare-${probe}}`;
const connect = (): Redis => new Redis({ host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null });

async function produce(): Promise<void> {
  const connection = connect();
  const queues = numbers.map(
    (probe) =>
      new Queue('jobs', {
        connection,
        prefix: prefixOf(probe),
        skipVersionCheck: true,
        skipMetasUpdate: true,
        defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      }),
  );
  await Promise.all(queues.map((queue) => queue.waitUntilReady()));
  let added = 0;
  process.on('message', (upTo: number) => {
    for (; added < upTo; added += 1) {
      const name = names[added % names.length]!;
      const jobId = `bare-job-${String(added).padStart(13, '0')}`;
      void queues[added % queues.length]!.add(name, { ...types[name]!.job, checkId: jobId }, { jobId });
    }
  });
}

async function work(): Promise<void> {
  const connection = connect();
  let ended = 0;
  const workers = numbers.map((probe) => {
    const options = { connection, prefix: prefixOf(probe), concurrency: AT_ONCE, removeOnComplete: { count: 0 } };
    const worker = new Worker(
      'jobs',
      async (job) => {
        await sleep(Number(lastsMs));
        return types[job.name]!.result;
      },
      options,
    );
    worker.on('completed', () => (ended += 1));
    return worker;
  });
  await Promise.all(workers.map((worker) => worker.waitUntilReady()));
  setInterval(() => process.send!(ended), REPORT_EVERY_MS);
}

await (side === 'producer' ? produce() : work());
process.on('disconnect', () => process.exit(0));
process.send!('ready');

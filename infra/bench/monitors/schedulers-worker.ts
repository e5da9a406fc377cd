import { Queue, Worker } from 'bullmq';

/**
 * The lower bound of a tick: BullMQ's job schedulers with an empty job, whose first ticks are spread evenly over
 * `spreadMs`. On request, sends the delay of each tick in milliseconds.
 */
const [, , port = '', count = '1', everyMs = '60000', spreadMs = '0'] = process.argv;
const connection = { host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null };

let delaysMs: number[] = [];
const worker = new Worker(
  'ticks',
  async ({ id = '' }) => {
    // The id of a repeated job is `repeat:<scheduler>:<time>`.
    delaysMs.push(Date.now() - Number(id.split(':').at(-1)));
  },
  { connection, concurrency: 50 },
);
const queue = new Queue('ticks', { connection });
await worker.waitUntilReady();
const startAt = Date.now();
await Promise.all(
  Array.from({ length: Number(count) }, (_, index) =>
    queue.upsertJobScheduler(
      `tick-${index}`,
      { every: Number(everyMs), startDate: startAt + Math.floor((Number(spreadMs) * index) / Number(count)) },
      { opts: { removeOnComplete: true, removeOnFail: true } },
    ),
  ),
);
process.on('message', () => {
  process.send!(delaysMs);
  delaysMs = [];
});
process.send!('ready');
process.on('disconnect', () => process.exit(0));

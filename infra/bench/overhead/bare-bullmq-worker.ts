import { Worker } from 'bullmq';

const port = Number(process.argv[2]);
const worker = new Worker('bare', async (job) => ({ number: job.data.number as number }), {
  connection: { host: '127.0.0.1', port, maxRetriesPerRequest: null },
  concurrency: 20,
});
await worker.waitUntilReady();
process.send!('ready');
process.on('disconnect', () => process.exit(0));

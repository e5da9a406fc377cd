import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { Ajv } from 'ajv';
import { Queue } from 'bullmq';
import express from 'express';
import { Redis } from 'ioredis';

/**
 * Lower bound for `POST /check` on some probes, by default five: Express, JSON, ajv and as many BullMQ adds, without
 * anything else.
 */
const [, , port = '', probes = '5'] = process.argv;
// Shared by all queues, as in the coordinator.
const connection = new Redis({ host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null });
const queues = Array.from(
  { length: Number(probes) },
  (_, index) =>
    new Queue('jobs', {
      connection,
      prefix: `p:{bare-${index}}`,
      skipVersionCheck: true,
      skipMetasUpdate: true,
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    }),
);
await Promise.all(queues.map((queue) => queue.waitUntilReady()));
const isRequest = new Ajv({ useDefaults: true }).compile({
  type: 'object',
  required: ['type', 'host'],
  additionalProperties: false,
  properties: {
    type: { enum: ['ping', 'http', 'dns', 'tcp'] },
    host: { type: 'string', minLength: 1, maxLength: 2_048 },
    port: { type: 'integer', minimum: 1, maximum: 65_535 },
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 5 },
    options: { type: 'object' },
  },
});
const app = express();
app.disable('x-powered-by');
app.use(express.json());
app.post('/check', (request, response, next) => {
  const body: unknown = request.body;
  if (!isRequest(body)) {
    response.status(400).json({ errors: isRequest.errors });
    return;
  }
  const checkId = randomUUID();
  const { type } = body as { readonly type: string };
  const job = { v: 1, checkId, type, params: body, deadlineAt: Date.now() + 10_000 };
  Promise.all(queues.map((queue) => queue.add(type, job, { jobId: checkId }))).then(
    () => response.status(202).json({ checkId, status: 'pending', message: 'The check has started.' }),
    next,
  );
});
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send!((server.address() as AddressInfo).port);
process.on('disconnect', () => process.exit(0));

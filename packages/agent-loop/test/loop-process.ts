// The loop of an agent in a separate process, which a test can stop and continue. Arguments: probe id, URL of Redis.
import { pino } from 'pino';

import { createAgentLoop } from '../src/agent-loop.ts';

const [probeId = '', redisUrl = ''] = process.argv.slice(2);

const loop = createAgentLoop({
  probeId,
  redisUrl,
  concurrency: 4,
  drainMs: 100,
  log: pino({ level: 'warn' }),
  onHopeless: () => process.exit(1),
  open: async () => ({
    prepare: ({ outlet }) => ({
      run: async (job, id) =>
        void outlet.final(id, JSON.stringify({ result: 'success', type: job.name }), Date.now() + 60_000),
      isExempt: () => false,
      isCheckId: (id) => id.length === 22,
      describe: () => ({
        version: '1',
        capabilities: { types: ['tcp'], ipv4: true, ipv6: false, screenshot: false },
        degraded: [],
      }),
    }),
    close: async () => undefined,
  }),
});
await loop.start();
process.on('disconnect', () => process.exit());
process.send?.('started');

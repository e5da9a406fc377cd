import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { createAgentLoop, type JobRunner } from '@vantage/agent-loop';
import { isCheckId } from '@vantage/contract';
import { checkTypeNames } from '@vantage/diagnostics/contract';
import { pino } from 'pino';

/**
 * Many probes in one process: the real loop, with a recorded result after a set time instead of a measurement. On
 * request, it sends the start of each job by id.
 */
const [, , redisUrl = '', firstId = '0', count = '1', lastsMs = '20', keepsStarts = ''] = process.argv;
/** Id and start of each job since the last request, milliseconds since the epoch. */
let starts: (readonly [id: string, atMs: number])[] = [];

const file = new URL('../../../packages/contract/test/release-0.1.json', import.meta.url);
const { types } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly types: Readonly<Record<string, { readonly result: object }>>;
};
const log = pino({ level: 'error' });

const runner: JobRunner = {
  prepare: ({ clock, outlet }) => ({
    run: async (job, id) => {
      if (keepsStarts !== '') starts.push([id, Date.now()]);
      const startedAt = new Date(clock.now()).toISOString();
      await sleep(Number(lastsMs));
      const { deadlineAt } = job.data as { readonly deadlineAt: number };
      const result = { ...types[job.name]?.result, startedAt, finishedAt: new Date(clock.now()).toISOString() };
      void outlet.final(id, JSON.stringify(result), deadlineAt);
    },
    isExempt: () => false,
    isCheckId,
    describe: () => ({
      version: '0.1.0',
      capabilities: { types: [...checkTypeNames], ipv4: true, ipv6: false, screenshot: false },
      degraded: [],
    }),
  }),
  close: async () => undefined,
};

const loops = Array.from({ length: Number(count) }, (_, index) =>
  createAgentLoop({
    probeId: `sim-${Number(firstId) + index}`,
    redisUrl,
    concurrency: 20,
    drainMs: 1_000,
    log,
    open: async () => runner,
  }),
);
// Fifty at a time: the backlog of Redis' socket is too short for a thousand connections at once.
for (let index = 0; index < loops.length; index += 50) {
  await Promise.all(loops.slice(index, index + 50).map((loop) => loop.start()));
}
process.on('message', () => {
  process.send!(starts);
  starts = [];
});
process.send!('ready');
process.on('disconnect', () => process.exit(0));

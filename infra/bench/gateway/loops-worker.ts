import { readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { createAgentLoop, createGatewayLoop, type JobRunner } from '@vantage/agent-loop';
import { isCheckId } from '@vantage/contract';
import { checkTypeNames } from '@vantage/diagnostics/contract';
import { pino } from 'pino';

import { enrol, identityOf, makeKey } from './simulated-keys.ts';

/**
 * Many agents in one process: the real loop, with a recorded result after a set time instead of a measurement. With
 * the address of a service they connect to its gateway, otherwise to Redis. On request, sends the transit time of
 * each job in milliseconds. The results of http have headers of a set size.
 */
const [, , redisUrl = '', url = '', prefix = '', count = '1', lastsMs = '0', headerBytes = '0'] = process.argv;

const file = new URL('../../../packages/contract/test/release-0.1.json', import.meta.url);
const { types } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly types: Readonly<Record<string, { readonly result: object }>>;
};
const common = { concurrency: 20, drainMs: 1_000, log: pino({ level: 'fatal' }) };
/** Loops that start at a time: a thousand connections at once would exceed the backlog of the socket. */
const AT_ONCE = 50;
const delaysMs: number[] = [];

const runner: JobRunner = {
  prepare: ({ clock, outlet }) => ({
    run: async (job, id) => {
      delaysMs.push(Date.now() - job.timestamp);
      const startedAt = new Date(clock.now()).toISOString();
      await sleep(Number(lastsMs));
      const { deadlineAt } = job.data as { readonly deadlineAt: number };
      const more = job.name === 'http' ? longHeaders() : {};
      const result = {
        ...types[job.name]?.result,
        ...more,
        startedAt,
        finishedAt: new Date(clock.now()).toISOString(),
      };
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
/** Headers of `headerBytes` characters; random ones, which compress to three quarters of that. */
function longHeaders(): object {
  const bytes = Number(headerBytes);
  return bytes === 0 ? {} : { headers: [['x-long', randomBytes(bytes).toString('base64').slice(0, bytes)]] };
}

const open = async (): Promise<JobRunner> => runner;

const keys = Array.from({ length: Number(count) }, (_, index) => makeKey(`${prefix}-${index}`));
if (url !== '') {
  await enrol(redisUrl, keys);
  await sleep(1_500);
}
const loops = keys.map((key) =>
  url === ''
    ? createAgentLoop({ ...common, open, probeId: key.probeId, redisUrl })
    : createGatewayLoop({ ...common, open, url, identity: identityOf(key, url), release: '0.1.0' }),
);
for (let index = 0; index < loops.length; index += AT_ONCE) {
  await Promise.all(loops.slice(index, index + AT_ONCE).map((loop) => loop.start()));
}
process.on('message', () => process.send!(delaysMs));
process.send!('ready');
process.on('disconnect', () => process.exit(0));

import { setTimeout as sleep } from 'node:timers/promises';

import { createAgent } from '../src/agent.ts';
import { fakeConfig, fakeRuntime, openPort, silent } from './fakes.ts';

/** An agent process whose runs last as many milliseconds as their port number, for tests that kill it. */
const [, , probe = '', redisUrl = ''] = process.argv;
const runtime = fakeRuntime(async ({ port }) => {
  await sleep(port);
  return openPort(port);
});
await createAgent(fakeConfig(probe, redisUrl), silent, async () => runtime).start();
process.send?.('ready');

import { setTimeout as sleep } from 'node:timers/promises';

import { createAgent } from '../src/agent.ts';
import { fakeConfig, fakeParts, openPort, silent } from './fakes.ts';

/** An agent in a process of its own whose every run takes as many milliseconds as its port says. For tests that kill it. */
const [, , probe = '', redisUrl = ''] = process.argv;
const parts = fakeParts(async ({ port }) => {
  await sleep(port);
  return openPort(port);
});
await createAgent(fakeConfig(probe, redisUrl), silent, async () => parts).start();
process.send?.('ready');

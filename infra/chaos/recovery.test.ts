import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { startServer } from '@vantage/test-support/loopback';

import type { Deployment } from './deployment.ts';
import { recoveries } from './recovery.ts';

/** Longer than the pause between two attempts. */
const SLOW_MS = 1_500;

it('counts a success of a check that waits while others are started', async () => {
  let started = 0;
  const server = createServer((request, response) => {
    response.setHeader('Content-Type', 'application/json');
    const isStart = request.method === 'POST';
    const body = isStart ? { checkId: String(++started) } : { results: { 'chaos-1': { result: 'success' } } };
    const waited = isStart ? Promise.resolve() : sleep(SLOW_MS, undefined, { ref: false });
    void waited.then(() => response.writeHead(isStart ? 202 : 200).end(JSON.stringify(body)));
  });
  const { port, close } = await startServer(server);
  const deployment = {
    agents: [{ id: 'chaos-1' }],
    coordinators: [{ url: `http://127.0.0.1:${port}` }],
    targets: { tcpPort: 1 },
  } as unknown as Deployment;

  const [recovery] = await recoveries(deployment, () => 0);
  await close();

  expect(recovery).toMatchObject({ probe: 'chaos-1', ms: expect.any(Number) });
  expect(started).toBe(2);
});

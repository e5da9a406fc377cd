import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { createGatewayLoop, type AgentLoop, type JobRunner, type RunnerLink } from '@vantage/agent-loop';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { pino } from 'pino';

import { startGatewayBed, type GatewayBed } from '../../test/gateway-bed.ts';

/** A modem: two pieces of the maximum size take eight seconds. */
const BYTES_PER_SECOND = 8 * 1_024;
const CHUNK = 512;
const SCREENSHOT_BYTES = 120_000;

interface SlowProxy {
  readonly url: string;
  readonly bytes: () => number;
  readonly close: () => void;
}

let test: GatewayBed;
let proxy: SlowProxy;
let loop: AgentLoop;

beforeAll(async () => {
  test = await startGatewayBed();
});

afterAll(async () => {
  await loop.close();
  proxy.close();
  await test.stop();
});

/** Forwards to a port of this machine; all connections together send at `BYTES_PER_SECOND`. */
async function startSlowProxy(port: number): Promise<SlowProxy> {
  let bytes = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const server = createServer({ highWaterMark: CHUNK }, (client) => {
    const upstream = connect(port, '127.0.0.1');
    const end = (): void => void [client, upstream].map((socket) => socket.destroy());
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    upstream.on('data', (chunk) => client.write(chunk));
    client.on('data', (chunk: Buffer) => {
      client.pause();
      turn = turn.then(async () => {
        await sleep((chunk.length * 1_000) / BYTES_PER_SECOND);
        bytes += chunk.length;
        upstream.write(chunk);
        client.resume();
      });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, bytes: () => bytes, close: () => server.close() };
}

it('an agent on a slow connection sends a screenshot once, keeps its connection, and results overtake it', async () => {
  const gateway = await test.startGateway();
  proxy = await startSlowProxy(Number(new URL(gateway.url).port));
  const { key, token } = await test.invite('slow-1');
  let counter = 0;
  let link: RunnerLink | undefined;
  const lines: string[] = [];
  const runner: JobRunner = {
    prepare: (given) => {
      link = given;
      return {
        run: async () => undefined,
        isAside: () => false,
        isCheckId: () => true,
        describe: () => ({
          version: '0.1.0',
          degraded: [],
          capabilities: { types: ['echo'], ipv4: true, ipv6: false, screenshot: true },
        }),
      };
    },
    close: async () => undefined,
  };
  loop = createGatewayLoop({
    url: proxy.url,
    identity: {
      probeId: () => 'slow-1',
      answer: async (nonce) => {
        counter += 1;
        const { token: presented, ...proof } = key.prove(counter, nonce, counter === 1 ? { token } : {});
        return presented === undefined ? proof : { ...proof, token: presented };
      },
      confirmed: async () => undefined,
      refused: async () => 'retry',
    },
    release: '0.1.0',
    concurrency: 2,
    drainMs: 0,
    log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
    open: async () => runner,
  });
  await loop.start();
  const deadlineAt = Date.now() + 600_000;
  const order: string[] = [];

  const png = Buffer.alloc(SCREENSHOT_BYTES);
  const screenshot = link!.outlet.screenshot('A'.repeat(22), { png, failure: null }, deadlineAt);
  void screenshot.then(() => order.push('screenshot'));
  for (const check of ['B', 'C', 'D']) {
    await link!.outlet.final(check.repeat(22), '{}', deadlineAt);
    order.push(check);
  }
  await screenshot;

  expect(order).toEqual(['B', 'C', 'D', 'screenshot']);
  expect(lines).toEqual([]);
  // Heads, results and pings are the rest.
  expect(proxy.bytes()).toBeLessThan(SCREENSHOT_BYTES * 1.2);
}, 180_000);

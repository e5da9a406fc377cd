import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { createGatewayLoop, type AgentLoop, type JobRunner, type RunnerLink } from '@vantage/agent-loop';
import { MAX_RESULT_BYTES } from '@vantage/contract';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { pino } from 'pino';

import { until } from '../../test/core-bed.ts';
import { startGatewayBed, type GatewayBed } from '../../test/gateway-bed.ts';

/** A modem: two pieces of the maximum size take eight seconds. */
const MODEM = 8 * 1_024;
/** At this rate, a result of the maximum size takes longer to send than either side waits for a sign of life. */
const SLOWEST = 2_560;
const FAST = 1_024 * 1_024;
const CHUNK = 512;
const SCREENSHOT_BYTES = 120_000;
/** Length of the random base64url in a large job, which compression makes a quarter shorter. */
const LARGE_JOB_BYTES = 63 * 1_024;

interface SlowProxy {
  readonly url: string;
  readonly bytes: () => number;
  readonly close: () => void;
}

let test: GatewayBed;
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  test = await startGatewayBed();
});

afterAll(async () => {
  for (const close of closers.splice(0)) await close();
  await test.stop();
});

/** Forwards to a port of this machine; all connections together send and receive at these rates. */
async function startSlowProxy(port: number, { up, down }: Rates): Promise<SlowProxy> {
  const [sent, received] = [createSlowWay(up), createSlowWay(down)];
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    const end = (): void => void [client, upstream].map((socket) => socket.destroy());
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    received.forward(upstream, client);
    sent.forward(client, upstream);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, bytes: sent.bytes, close: () => server.close() };
}

interface Rates {
  readonly up: number;
  readonly down: number;
}

/** One direction of a link, at a rate in bytes per second. */
function createSlowWay(bytesPerSecond: number) {
  let bytes = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const forward = (from: Socket, to: Socket): void => {
    from.on('data', (chunk: Buffer) => {
      from.pause();
      turn = turn.then(async () => {
        for (let at = 0; at < chunk.length; at += CHUNK) {
          const part = chunk.subarray(at, at + CHUNK);
          await sleep((part.length * 1_000) / bytesPerSecond);
          bytes += part.length;
          to.write(part);
        }
        from.resume();
      });
    });
  };
  return { forward, bytes: () => bytes };
}

interface SlowAgent {
  readonly outlet: RunnerLink['outlet'];
  /** Lines of the agent's log. */
  readonly lines: readonly string[];
  /** Ids of the jobs that reached the agent. */
  readonly ran: readonly string[];
  readonly sentBytes: () => number;
}

async function startSlowAgent(probe: string, rates: Partial<Rates>): Promise<SlowAgent> {
  const gateway = await test.startGateway();
  const proxy = await startSlowProxy(Number(new URL(gateway.url).port), { up: FAST, down: FAST, ...rates });
  const { key, token } = await test.invite(probe);
  let counter = 0;
  let link: RunnerLink | undefined;
  const lines: string[] = [];
  const ran: string[] = [];
  const runner: JobRunner = {
    prepare: (given) => {
      link = given;
      return {
        run: async ({ id }) => void ran.push(id),
        isExempt: () => false,
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
  const loop: AgentLoop = createGatewayLoop({
    url: proxy.url,
    identity: {
      probeId: () => probe,
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
  closers.push(loop.close, proxy.close);
  await loop.start();
  return { outlet: link!.outlet, lines, ran, sentBytes: proxy.bytes };
}

// Concurrent: each waits for its own link.
it.concurrent('an agent on a slow connection sends a screenshot once, keeps its connection, and results overtake it', async () => {
  const { outlet, lines, sentBytes } = await startSlowAgent('slow-1', { up: MODEM });
  const deadlineAt = Date.now() + 600_000;
  const order: string[] = [];

  const png = Buffer.alloc(SCREENSHOT_BYTES);
  const screenshot = outlet.screenshot('A'.repeat(22), { png, failure: null }, deadlineAt);
  void screenshot.then(() => order.push('screenshot'));
  for (const check of ['B', 'C', 'D']) {
    await outlet.final(check.repeat(22), '{}', deadlineAt);
    order.push(check);
  }
  await screenshot;

  expect(order).toEqual(['B', 'C', 'D', 'screenshot']);
  expect(lines).toEqual([]);
  // Apart from the screenshot, only the handshake, small messages and pings are sent: the image is sent once.
  expect(sentBytes()).toBeLessThan(SCREENSHOT_BYTES * 1.2);
});

it.concurrent('a result that takes longer than a silent connection is kept is sent once, over the same connection', async () => {
  const { outlet, lines, sentBytes } = await startSlowAgent('slow-2', { up: SLOWEST });
  const text = randomBytes(MAX_RESULT_BYTES).toString('base64url');
  const data = JSON.stringify({ text: text.slice(0, MAX_RESULT_BYTES - 100) });
  const startedAt = performance.now();
  await outlet.final('E'.repeat(22), data, Date.now() + 120_000);

  // A gateway ends a silent connection after 12 s at most, and an agent after eight pings, 16 s.
  expect(performance.now() - startedAt).toBeGreaterThan(16_000);
  expect(lines).toEqual([]);
  expect(sentBytes()).toBeLessThan(MAX_RESULT_BYTES);
});

it.concurrent('a job that takes longer than a silent gateway is kept arrives once, over the same connection', async () => {
  const { lines, ran } = await startSlowAgent('slow-3', { down: SLOWEST });
  await until(async () =>
    (await test.bed.core.knownProbes().catch(() => [])).some(({ record, alive }) => record.id === 'slow-3' && alive),
  );
  const startedAt = performance.now();
  const host = randomBytes(LARGE_JOB_BYTES).toString('base64url').slice(0, LARGE_JOB_BYTES);
  const params = { host, options: { budget: 120_000 } };
  const check = await test.bed.start({ probes: ['slow-3'], params });
  await until(() => ran.length > 0);

  // An agent ends a silent connection after eight pings.
  expect(performance.now() - startedAt).toBeGreaterThan(16_000);
  expect(lines).toEqual([]);
  expect(ran).toEqual([check]);
});

import { redisKeys } from '@vantage/contract';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { quiet, readEcho, startCoreBed, until, type CoreBed } from '../../test/core-bed.ts';
import { putMonitor } from './schedule/monitor-records.ts';
import type { Delivery, DeliveryOutcome } from './webhooks/send-webhook.ts';

let bed: CoreBed;
const sent: Delivery[] = [];

beforeEach(async () => {
  sent.length = 0;
  bed = await startCoreBed();
  await bed.addProbe('fra-1');
  await bed.keepAlive('fra-1');
  // Only the coordinator of this test may have a sender.
  await bed.core.close();
}, 120_000);

afterEach(() => bed.stop(), 120_000);

/** Starts a monitor whose probe fails from the first tick on. */
async function turnBad(sendWebhook: (delivery: Delivery) => DeliveryOutcome): Promise<void> {
  bed.startCore({
    monitors: {
      readDefinition: readEcho,
      sendWebhook: async (delivery) => {
        sent.push(delivery);
        return sendWebhook(delivery);
      },
    },
  });
  const webhooks = ['https://one.example/secret', 'https://two.example/secret'];
  const request = { check: { everyMs: 1_000 }, every: '10s', alarm: { when: '1 of 1', for: 1 }, webhooks };
  await putMonitor(bed.redis, 'web', { owner: 'api', request }, Date.now());
  const failure = {
    result: 'failure',
    rt: null,
    resolvedIp: null,
    startedAt: null,
    finishedAt: '2026-01-01T00:00:00.000Z',
    error: { code: 'connection_refused', phase: 'connect', source: 'target', message: 'The port is closed.' },
  };
  await until(async () => {
    const ids = (await bed.redis.lpop(`${redisKeys.queuePrefix('fra-1')}:jobs:wait`, 10)) ?? [];
    for (const id of ids) {
      const data = JSON.stringify(failure);
      await bed.redis.xadd(redisKeys.results('fra-1'), '*', 'check', id, 'kind', 'final', 'data', data);
      await bed.redis.publish(redisKeys.resultNotification('fra-1'), '1');
    }
    return sent.length >= 2;
  });
}

it('a change of state goes to every webhook, with the sentence and the agreement', async () => {
  await turnBad(() => ({ kind: 'delivered' }));
  await until(async () => (await bed.redis.zcard(redisKeys.monitorOutbox)) === 0);

  expect(sent.map(({ url }) => url).toSorted()).toEqual(['https://one.example/secret', 'https://two.example/secret']);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
  expect(JSON.parse(sent[0]!.body)).toMatchObject({
    type: 'monitor.bad',
    timestamp: expect.stringMatching(/^\d{4}-/),
    data: {
      kind: 'state',
      monitor: 'web',
      to: 'bad',
      failing: ['fra-1'],
      headline: expect.stringContaining('does not answer'),
      agreement: { failing: 1, counted: 1 },
    },
  });
}, 120_000);

it('one that fails is tried again under the same id, one that is refused is not', async () => {
  await turnBad(({ url, attempts }) => {
    if (url.includes('two')) return { kind: 'refused', reason: 'status 410' };
    return attempts === 0 ? { kind: 'failed', reason: 'status 500' } : { kind: 'delivered' };
  });
  await until(() => sent.length >= 3);
  await until(async () => (await bed.redis.zcard(redisKeys.monitorOutbox)) === 0);

  expect(sent.map(({ url, attempts }) => `${new URL(url).host} ${attempts}`).toSorted()).toEqual([
    'one.example 0',
    'one.example 1',
    'two.example 0',
  ]);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
}, 120_000);

it('the path of a webhook is in no answer and in no log', async () => {
  const logged: unknown[] = [];
  const note = (fields: unknown): void => void logged.push(fields);
  const core = bed.startCore({
    log: { ...quiet, info: note, warn: note, error: note },
    monitors: { readDefinition: readEcho, sendWebhook: async () => ({ kind: 'failed', reason: 'status 500' }) },
  });
  await until(() => core.rateLimitRedis.status === 'ready');
  const url = 'https://one.example/secret';
  const request = { check: { budget: 100 }, every: '1h', webhooks: [url] };
  await putMonitor(bed.redis, 'web', { owner: 'api', request }, 4e12);
  const delivery: Delivery = { kind: 'delivery', monitor: 'web', id: 'msg_1', url, body: '{}', attempts: 0 };
  await bed.redis.zadd(redisKeys.monitorOutbox, 0, JSON.stringify(delivery));
  await until(() => logged.some((fields) => JSON.stringify(fields).includes('msg_1')));

  const answers = JSON.stringify([await core.monitors.read('web'), await core.monitors.list()]);
  expect(answers).toContain('https://one.example/…');
  expect(answers + JSON.stringify(logged)).not.toContain('secret');
}, 120_000);

describe('a receiver that does not answer', () => {
  const deliveryTo = (host: string, index: number): string =>
    JSON.stringify({
      kind: 'delivery',
      monitor: 'web',
      id: `msg_${index}`,
      url: `https://${host}/`,
      body: '{}',
      attempts: 0,
    });

  /** Queues webhooks of a silent receiver before all others and starts the coordinator. @returns receivers, in the order of sending */
  async function sendBehind(waiting: number): Promise<readonly string[]> {
    const hosts: string[] = [];
    const { promise: never } = Promise.withResolvers<DeliveryOutcome>();
    for (let index = 0; index < waiting; index += 1) {
      await bed.redis.zadd(redisKeys.monitorOutbox, index, deliveryTo('silent.example', index));
    }
    bed.startCore({
      monitors: {
        readDefinition: readEcho,
        sendWebhook: async ({ url }) => {
          hosts.push(new URL(url).host);
          return url.includes('silent') ? never : { kind: 'delivered' };
        },
      },
    });
    return hosts;
  }

  it('delays its own webhooks only', async () => {
    for (let index = 0; index < 30; index += 1) {
      await bed.redis.zadd(redisKeys.monitorOutbox, 1_000 + index, deliveryTo('well.example', 1_000 + index));
    }
    const hosts = await sendBehind(120);
    await until(() => hosts.filter((host) => host === 'well.example').length === 30);

    // All webhooks of this receiver are still queued, some of them running.
    expect(await bed.redis.zcount(redisKeys.monitorOutbox, '-inf', '+inf')).toBeGreaterThanOrEqual(120);
    expect(hosts.filter((host) => host === 'silent.example')).toHaveLength(10);
  }, 120_000);

  it('leaves no lease to end while a webhook waits: no other coordinator begins it, too', async () => {
    await sendBehind(12);
    const last = deliveryTo('silent.example', 11);
    const leaseEnd = async (): Promise<number> => Number(await bed.redis.zscore(redisKeys.monitorOutbox, last));
    await until(async () => (await leaseEnd()) > 1_000);
    const first = await leaseEnd();
    await until(async () => (await leaseEnd()) !== first);

    // The lease changed before its end: it was renewed, not taken over.
    const [seconds] = await bed.redis.time();
    expect(Number(seconds) * 1_000).toBeLessThan(first);
  }, 120_000);
});

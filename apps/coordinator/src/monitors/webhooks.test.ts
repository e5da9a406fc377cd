import { redisKeys, WEBHOOK_QUEUE } from '@vantage/contract';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { quiet, startCoreBed, until, type CoreBed } from '../../test/core-bed.ts';
import { readEcho } from '../../test/echo-type.ts';
import { report, success } from '../../test/check-steps.ts';
import type { Core } from '../core.ts';
import { MOST_QUEUED } from '../checks/create/probe-capacity.ts';
import type { Log } from '../redis/log.ts';
import type { ReadDefinition } from './definition.ts';
import { putMonitor, removeMonitor } from './store/definition-records.ts';
import type { Delivery, DeliveryOutcome } from './webhooks/send-webhook.ts';

const QUEUE = `${redisKeys.webhookQueuePrefix}:${WEBHOOK_QUEUE}`;

let bed: CoreBed;
const sent: Delivery[] = [];

beforeEach(async () => {
  sent.length = 0;
  bed = await startCoreBed();
  await bed.addProbe('fra-1');
  await bed.addProbe('full-1');
  await bed.keepAlive('fra-1');
  // Only the core that a test starts may send webhooks.
  await bed.core.close();
});

afterEach(() => bed.stop());

const webhooks = ['https://one.example/secret', 'https://two.example/secret'];
const request = { check: { everyMs: 1_000 }, every: '10s', alarm: { when: '1 of 1', for: 1 }, webhooks };

const closed = { code: 'connection_refused', phase: 'connect', source: 'target', message: 'The port is closed.' };

function startSender(
  sendWebhook: (delivery: Delivery) => DeliveryOutcome,
  log: Log = quiet,
  readDefinition: ReadDefinition = readEcho,
): Core {
  return bed.startCore({
    log,
    monitors: {
      readDefinition,
      sendWebhook: async (delivery) => {
        sent.push(delivery);
        return sendWebhook(delivery);
      },
    },
  });
}

/** Answers the waiting jobs of the probe. */
async function answerJobs(result: object): Promise<void> {
  const ids = (await bed.redis.lpop(`${redisKeys.queuePrefix('fra-1')}:jobs:wait`, 10)) ?? [];
  for (const id of ids) await report(bed.redis, 'fra-1', id, result);
}

/** Starts a monitor whose probe fails from the first tick on. */
async function turnBad(sendWebhook: (delivery: Delivery) => DeliveryOutcome, log: Log = quiet): Promise<Core> {
  const core = startSender(sendWebhook, log);
  await putMonitor(bed.redis, 'web', { owner: 'api', request }, Date.now());
  await until(async () => {
    await answerJobs({ ...success('no'), result: 'failure', error: closed });
    return sent.length >= 2;
  });
  return core;
}

it('a change of state goes to every webhook, with the sentence and the agreement', async () => {
  await turnBad(() => ({ kind: 'delivered' }));
  await untilDone();

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
});

describe('the first tick of a definition', () => {
  const changed = { ...request, check: { everyMs: 1_100 } };
  const put = (definition: typeof request): Promise<unknown> =>
    putMonitor(bed.redis, 'web', { owner: 'api', request: definition }, Date.now());
  /** Answers jobs until the monitor has a state of this definition. */
  const answerUntil = async (core: Core, state: string, { check }: typeof request, answer: object): Promise<void> =>
    until(async () => {
      await answerJobs(answer);
      const monitor = await core.monitors.read('web').catch(() => undefined);
      return monitor?.state === state && monitor.check['everyMs'] === check.everyMs;
    });
  const types = (): readonly unknown[] =>
    sent.filter(({ url }) => url.includes('one')).map(({ body }) => (JSON.parse(body) as { type: unknown }).type);

  it('reports nothing if all is well, also where another definition was before', async () => {
    const core = startSender(() => ({ kind: 'delivered' }));
    await put(request);
    await answerUntil(core, 'ok', request, success('yes'));

    await put(changed);
    await answerUntil(core, 'ok', changed, success('yes'));
    await untilDone();

    expect(types()).toEqual([]);
  });

  it('reports the turn to ok of a monitor that was unknown before', async () => {
    const core = startSender(() => ({ kind: 'delivered' }));
    const error = { code: 'internal_error', phase: 'dispatch', source: 'probe', message: 'The probe is broken.' };
    await put(request);
    await answerUntil(core, 'ok', request, success('yes'));
    await answerUntil(core, 'unknown', request, { ...success('no'), result: 'error', error });

    await put(changed);
    await answerUntil(core, 'ok', changed, success('yes'));
    await untilDone();

    expect(types()).toEqual(['monitor.unknown', 'monitor.ok']);
  });
});

it('a turn to bad is sent at once while no probe has capacity for its traceroute, and names none', async () => {
  await bed.keepAlive('full-1');
  // Jobs of pending checks, which the coordinator does not remove.
  const ids = Array.from({ length: MOST_QUEUED }, (_, index) => `pending-${index}`);
  await Promise.all(ids.map((id) => bed.redis.hset(redisKeys.checkResults(id), 'full-1', '')));
  await bed.redis.rpush(`${redisKeys.queuePrefix('full-1')}:jobs:active`, ...ids);
  const core = startSender(
    () => ({ kind: 'delivered' }),
    quiet,
    (name, asked, allow) => {
      const reading = readEcho(name, asked, allow);
      const isTrace = (asked as { check: { type?: string } }).check.type === 'traceroute';
      if (!reading.valid) return reading;
      const accepted = { ...reading.definition.accepted, probes: [isTrace ? 'full-1' : 'fra-1'] };
      return { valid: true, definition: { ...reading.definition, accepted } };
    },
  );
  await until(async () => (await core.knownProbes().catch(() => [])).some(({ queued }) => queued === MOST_QUEUED));

  await putMonitor(bed.redis, 'web', { owner: 'api', request }, Date.now());
  await until(async () => {
    await answerJobs({ ...success('no'), result: 'failure', error: closed });
    return sent.length >= 2;
  });

  expect(JSON.parse(sent[0]!.body)).toMatchObject({ type: 'monitor.bad', data: { tracerouteId: null } });
  expect(await core.monitors.read('web')).toMatchObject({ state: 'bad', tracerouteId: null });
});

it('one that fails is tried again under the same id, one that is refused is not', async () => {
  await turnBad(({ url }) => {
    if (url.includes('two')) return { kind: 'refused', reason: 'status 410' };
    return sent.filter((one) => one.url === url).length === 1
      ? { kind: 'failed', reason: 'status 500' }
      : { kind: 'delivered' };
  });
  await until(() => sent.length >= 3);
  await untilDone();

  expect(sent.map(({ url }) => new URL(url).host).toSorted()).toEqual(['one.example', 'one.example', 'two.example']);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
});

it('one that waits ends with its monitor, also if one of the same name is made', async () => {
  let isUp = false;
  const core = await turnBad(() => (isUp ? { kind: 'delivered' } : { kind: 'failed', reason: 'status 500' }));
  await until(async () => (await bed.redis.zcard(`${QUEUE}:delayed`)) === 2);
  isUp = true;
  await removeMonitor(bed.redis, 'web', 'api');
  sent.length = 0;
  await putMonitor(bed.redis, 'web', { owner: 'api', request }, Date.now());
  await until(async () => {
    await answerJobs(success('yes'));
    return (await core.monitors.read('web'))?.state === 'ok';
  });
  await untilDone();

  expect(sent).toEqual([]);
});

it('the number of the last tick of a removed monitor goes when no message about it can be left', async () => {
  const put = (name: string): Promise<unknown> =>
    putMonitor(bed.redis, name, { owner: 'api', request }, Date.now() + 60_000);
  const { monitorTicks, monitorsEnded, monitorsEndedAt } = redisKeys;
  for (const name of ['gone', 'back', 'last']) {
    await put(name);
    await bed.redis.hset(monitorTicks, name, 5);
    await removeMonitor(bed.redis, name, 'api');
    if (name !== 'last') await bed.redis.zadd(monitorsEndedAt, 1, name);
    if (name === 'back') await put(name);
  }

  expect(await bed.redis.hgetall(monitorTicks)).toEqual({ back: '5', last: '5' });
  expect(await bed.redis.hgetall(monitorsEnded)).toEqual({ last: '5' });
});

it.each([
  ['no JSON', '{'],
  ['no object', 'null'],
])('a task that is %s is dropped', async (_what, task) => {
  const logged: unknown[] = [];
  await bed.redis.zadd(redisKeys.monitorOutbox, 0, task);
  const error = (_fields: unknown, text?: string): void => void logged.push(text);
  startSender(() => ({ kind: 'delivered' }), { ...quiet, error });
  await untilDone();

  expect(logged).toEqual(['task of a monitor failed']);
});

it('the path of a webhook is in no answer, in no log, and in Redis only in the definition', async () => {
  const logged: unknown[] = [];
  const note = (fields: unknown): void => void logged.push(fields);
  const core = await turnBad(
    ({ url }) => ({ kind: url.includes('two') ? 'refused' : 'failed', reason: 'status 500' }),
    { ...quiet, info: note, warn: note, error: note },
  );
  const isLogged = (host: string): boolean =>
    logged.some((fields) => JSON.stringify(fields).includes(`"host":"${host}","attempt":1`));
  await until(() => isLogged('one.example') && isLogged('two.example'));

  const answers = JSON.stringify([await core.monitors.read('web'), await core.monitors.list()]);
  expect(answers).toContain('https://one.example/…');
  expect(answers + JSON.stringify(logged)).not.toContain('secret');
  const contents = await readAll();
  // One of the two jobs waits for its next attempt, the other was given up.
  expect(Object.keys(contents).filter((key) => key.startsWith(`${QUEUE}:msg_`))).toHaveLength(2);
  expect(Object.keys(contents).filter((key) => contents[key]!.includes('secret'))).toEqual([redisKeys.monitors]);
});

/** Waits until the outbox is empty and no message waits or is being sent. */
async function untilDone(): Promise<void> {
  const { monitorOutbox: outbox } = redisKeys;
  await until(
    async () => (await bed.redis.exists(outbox, `${QUEUE}:wait`, `${QUEUE}:delayed`, `${QUEUE}:active`)) === 0,
  );
}

/** Contents of all keys as JSON. */
async function readAll(): Promise<Readonly<Record<string, string>>> {
  const keys = await bed.redis.keys('*');
  const commands: Readonly<Record<string, readonly string[]>> = {
    hash: ['HGETALL'],
    list: ['LRANGE', '0', '-1'],
    zset: ['ZRANGE', '0', '-1'],
    stream: ['XRANGE', '-', '+'],
    string: ['GET'],
  };
  const entries = keys.map(async (key) => {
    const [command, ...rest] = commands[await bed.redis.type(key)] ?? ['EXISTS'];
    return [key, JSON.stringify(await bed.redis.call(command!, key, ...rest))] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

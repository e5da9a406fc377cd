import { JOB_QUEUE, redisKeys, WEBHOOK_QUEUE, type MonitorEvent } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';
import { afterAll, describe, expect, it } from '@jest/globals';

import { report } from '../../test/check-steps.ts';
import { startCoreBed, until, type CoreBed } from '../../test/core-bed.ts';
import { balancedResult, TRACED_TARGET, tracedResult } from '../../test/traced-result.ts';
import { createMonitorReader } from '../http/requests/read-monitor.ts';
import { putMonitor } from './store/definition-records.ts';
import type { ReadDefinition } from './definition.ts';
import type { WebhookMessage } from './webhooks/message.ts';

const PROBES = ['fra-1', 'nyc-1'];

/** Reads definitions as the API does, but with a tick every 400 ms. */
const readAny: ReadDefinition = (name, request, allow) => {
  const accept = createMonitorReader(
    [checkTypes.traceroute],
    (target) => ({ verdict: 'accepted', ...target }) as never,
    true,
  );
  const reading = accept(name, request, allow);
  return reading.valid ? { valid: true, definition: { ...reading.definition, everyMs: 400 } } : reading;
};

const beds: CoreBed[] = [];

/** Each test has a coordinator and a Redis that the other does not use: both run at the same time. */
async function startBed(): Promise<CoreBed> {
  const bed = await startCoreBed(
    {},
    { checkTypes: { traceroute: checkTypes.traceroute }, monitors: { readDefinition: readAny } },
  );
  beds.push(bed);
  for (const probe of PROBES) {
    await bed.addProbe(probe, { asNumber: probe === 'fra-1' ? 'AS64496' : 'AS64497' });
    await bed.keepAlive(probe);
  }
  await until(
    async () => (await bed.core.knownProbes().catch(() => [])).filter(({ alive }) => alive).length === PROBES.length,
  );
  return bed;
}

afterAll(async () => {
  await Promise.all(beds.map((bed) => bed.stop()));
});

async function answerJobs(bed: CoreBed, probe: string, result: object): Promise<void> {
  const jobs = await bed.redis.lpop(`${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:wait`, 100);
  for (const id of jobs ?? []) await report(bed.redis, probe, id, result);
}

const working = ['198.51.100.1', '198.51.100.2', '198.51.100.3', TRACED_TARGET];
const moved = ['198.51.100.1', '198.51.100.8', '198.51.100.3', TRACED_TARGET];
const broken = ['198.51.100.1', '198.51.100.8', '*', '*', '*', '*', '*'];

describe('the paths of a monitor', () => {
  it.concurrent('make an event when a load balancer loses a way for good', async () => {
    const bed = await startBed();
    const check = { type: 'traceroute', host: 'target.example', probes: PROBES.slice(0, 1) };
    let result = balancedResult(working, moved);
    const answering = setInterval(() => void answerJobs(bed, 'fra-1', result).catch(() => undefined), 20);
    const changes = async (): Promise<readonly MonitorEvent[]> => {
      const stored = await bed.core.monitors.eventsAfter('ways', '0-0').catch(() => undefined);
      return (stored?.events ?? []).map(({ event }) => event).filter(({ kind }) => kind === 'path');
    };
    const ticked = async (): Promise<number> => (await bed.core.monitors.read('ways'))?.runs[0]?.tick ?? 0;
    try {
      await putMonitor(bed.redis, 'ways', { owner: 'api', request: { check, every: '10s' } }, Date.now());
      await until(async () => (await ticked()) >= 6);
      expect(await changes()).toEqual([]);
      result = balancedResult(working);
      await until(async () => (await changes()).length > 0);
      const later = (await ticked()) + 4;
      await until(async () => (await ticked()) >= later);

      const text = 'path at hop 2: 198.51.100.2 or 198.51.100.8 → 198.51.100.2, fewer ways of a load balancer';
      const sentence = `P${text.slice(1)} (fra-1).`;
      const found = { probes: ['fra-1'], change: 'ways' as const, sentence };
      const [event, ...others] = await changes();
      const monitor = (await bed.core.monitors.read('ways'))!;
      const [entry] = monitor.pathChanges;
      const before = entry!.changes[0]!.before;
      expect(event).toMatchObject({ ...found, before: [before] });
      expect(others).toEqual([]);
      const move = { hop: 2, from: [['198.51.100.2', '198.51.100.8']], to: [['198.51.100.2']] };
      const networks = { networksGone: [], networksNew: [] };
      const change = { probes: ['fra-1'], before, change: 'ways', ...move, ...networks, text };
      const { at, tick, checkId } = event!;
      expect(monitor).toMatchObject({ lastPathChangeAt: at });
      expect(monitor.pathChanges).toEqual([{ at, tick, checkId, ...found, changes: [{ ...change, kept: true }] }]);
      expect(event).toMatchObject({ changes: [change] });

      // Without the results of the earlier check, the sentence stays.
      await bed.redis.del(redisKeys.check(before));
      expect((await bed.core.monitors.read('ways'))!.pathChanges).toMatchObject([
        { sentence, changes: [{ kept: false }] },
      ]);
      // A changed definition starts without changes of the path.
      await putMonitor(bed.redis, 'ways', { owner: 'api', request: { check, every: '1d' } }, Date.now() + 3_600_000);
      expect(await bed.core.monitors.read('ways')).toMatchObject({ pathChanges: [], lastPathChangeAt: null });
    } finally {
      clearInterval(answering);
    }
  });

  it.concurrent('make an event when they change, and a sentence when the monitor turns bad', async () => {
    const bed = await startBed();
    const check = { type: 'traceroute', host: 'target.example', probes: PROBES };
    const request = {
      check,
      every: '10s',
      alarm: { when: '1 of 4', for: 1 },
      webhooks: ['https://hooks.example.com/x'],
    };
    let paths = { 'fra-1': tracedResult(working, true), 'nyc-1': tracedResult(working, true) };
    const answering = setInterval(() => {
      for (const probe of PROBES) void answerJobs(bed, probe, paths[probe as 'fra-1']).catch(() => undefined);
    }, 20);
    const eventsOf = async (): Promise<readonly MonitorEvent[]> =>
      ((await bed.core.monitors.eventsAfter('path', '0-0').catch(() => undefined))?.events ?? []).map(
        ({ event }) => event,
      );
    const ticked = async (): Promise<number> => (await bed.core.monitors.read('path'))?.runs[0]?.tick ?? 0;
    try {
      await putMonitor(bed.redis, 'path', { owner: 'api', request }, Date.now());
      await until(async () => (await ticked()) >= 3);
      paths = { ...paths, 'nyc-1': tracedResult(moved, true) };
      await until(async () => (await eventsOf()).some(({ kind }) => kind === 'path'));
      const later = (await ticked()) + 2;
      await until(async () => (await ticked()) >= later);
      paths = { ...paths, 'nyc-1': tracedResult(broken, false) };
      await until(async () => (await bed.core.monitors.read('path'))?.parting !== null);

      const events = await eventsOf();
      const changes = events.filter(({ kind }) => kind === 'path');
      expect(changes).toHaveLength(1);
      expect(changes[0]).toMatchObject({
        probes: ['nyc-1'],
        change: 'hop',
        sentence:
          'Path at hop 2: 198.51.100.2 → 198.51.100.8, another router or the same one by another interface (nyc-1).',
      });
      const sentence =
        'Paths from the failing nyc-1 and from the working fra-1 show hop 1, 198.51.100.1 as the last router in common: ' +
        'they part there, nothing answers the failing ones beyond hop 2, 198.51.100.8 (the packets or their answers are lost), and the working ones go on over hop 2, 198.51.100.2.';
      const monitor = (await bed.core.monitors.read('path'))!;
      expect(monitor).toMatchObject({ state: 'bad', parting: sentence });
      expect(events.find(({ kind }) => kind === 'parting')).toMatchObject({
        checkId: monitor.tracerouteId,
        failing: ['nyc-1'],
        sentence,
      });
      const typesSent = async (): Promise<readonly string[]> => {
        const jobs = await bed.redis.keys(`${redisKeys.webhookQueuePrefix}:${WEBHOOK_QUEUE}:msg_*`);
        const types = jobs.map(async (key) => {
          const { body } = JSON.parse((await bed.redis.hget(key, 'data'))!) as WebhookMessage;
          return (JSON.parse(body) as { readonly type: string }).type;
        });
        return (await Promise.all(types)).toSorted();
      };
      expect(await typesSent()).toEqual(['monitor.bad', 'monitor.parting', 'monitor.path']);

      // The target is reached again, over another path than before.
      paths = { ...paths, 'nyc-1': tracedResult(working, true) };
      await until(async () => (await typesSent()).includes('monitor.ok'));
      expect((await typesSent()).filter((type) => type === 'monitor.path')).toHaveLength(2);
      const { pathChanges } = (await bed.core.monitors.read('path'))!;
      expect(pathChanges.map(({ changes: [change] }) => [change!.from, change!.to])).toEqual([
        [[['198.51.100.8']], [['198.51.100.2']]],
        [[['198.51.100.2']], [['198.51.100.8']]],
      ]);
    } finally {
      clearInterval(answering);
    }
  });
});

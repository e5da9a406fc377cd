import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { JOB_QUEUE, redisKeys, type Monitor } from '@vantage/contract';
import { describe, expect, it } from '@jest/globals';

import { quiet, startCoreBed, until, type CoreBed } from '../../test/core-bed.ts';
import { readEcho } from '../../test/echo-type.ts';
import { report, success } from '../../test/check-steps.ts';
import { drawId } from '../checks/create/draw-id.ts';
import { createRedisClock } from '../redis/clock.ts';
import type { ReadDefinition, StoredMonitor } from './definition.ts';
import { followMonitorsFile } from './file/follow-file.ts';
import { correctSchedule } from './schedule/correct-schedule.ts';
import { claimTicks, postponeTicks, type Claim } from './store/tick-records.ts';
import { putMonitor, removeMonitor } from './store/definition-records.ts';
import { readDue } from './store/monitor-records.ts';
import { createReadStored, MOST_KNOWN } from './schedule/run-ticks.ts';

const PROBES = ['fra-1', 'nyc-1'];

interface Bed extends CoreBed {
  /** Folder of the files of monitors. */
  readonly folder: string;
  /** Answers the jobs of a probe that wait in its queue. @returns ids of their checks */
  readonly answerJobs: (probe: string, result?: object) => Promise<readonly string[]>;
  readonly readWhen: (name: string, isSo: (monitor: Monitor) => boolean) => Promise<Monitor>;
}

/** A test with a coordinator, a Redis and two probes that no other test uses: all tests run at the same time. */
function onBed(test: (bed: Bed) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vantage-monitors-'));
    const bed = await startCoreBed();
    try {
      for (const probe of PROBES) {
        await bed.addProbe(probe, { asNumber: probe === 'fra-1' ? 'AS64496' : 'AS64497' });
        await bed.keepAlive(probe);
      }
      await until(
        async () =>
          (await bed.core.knownProbes().catch(() => [])).filter(({ alive }) => alive).length === PROBES.length,
      );
      await test(Object.assign(bed, { folder, answerJobs: answerJobsOf(bed), readWhen: readWhenOf(bed) }));
    } finally {
      await bed.stop();
      rmSync(folder, { recursive: true });
    }
  };
}

const refused = {
  code: 'connection_refused',
  phase: 'connect',
  source: 'target',
  message: 'The port is closed.',
};

const web = (check: object = {}): StoredMonitor => ({
  owner: 'api',
  request: { check: { everyMs: 300, ...check }, every: '10s', alarm: { for: 1 } },
});

const answerJobsOf =
  ({ redis }: CoreBed): Bed['answerJobs'] =>
  async (probe, result = success('hello')) => {
    const jobs = await redis.lpop(`${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:wait`, 100);
    for (const id of jobs ?? []) await report(redis, probe, id, result);
    return jobs ?? [];
  };

const readWhenOf =
  ({ core }: CoreBed): Bed['readWhen'] =>
  async (name, isSo) => {
    let monitor: Monitor | undefined;
    await until(async () => {
      monitor = await core.monitors.read(name);
      return monitor !== undefined && isSo(monitor);
    });
    return monitor!;
  };

describe('the ticks of a monitor', () => {
  it.concurrent(
    'are ordinary checks whose results make its state',
    onBed(async (bed) => {
      const { answerJobs, readWhen } = bed;
      await putMonitor(bed.redis, 'web', web(), Date.now());
      let fails = false;
      const failure = { ...success('no'), result: 'failure', error: refused };
      const answering = setInterval(
        // One may be under way when the test ends, with its connection.
        () => PROBES.forEach((probe) => void answerJobs(probe, fails ? failure : undefined).catch(() => undefined)),
        20,
      );
      try {
        const good = await readWhen('web', ({ state }) => state === 'ok');
        fails = true;
        const bad = await readWhen('web', ({ state }) => state === 'bad');

        expect(good).toMatchObject({
          owner: 'api',
          agreement: { failing: 0, counted: 2 },
          alarm: { when: '1 of 2', for: 1 },
        });
        expect(bad.probes['nyc-1']).toMatchObject({
          state: 'failing',
          reason: 'The port is closed.',
          network: 'AS64497',
          country: 'DE',
        });
        expect(bad.headline).toContain('does not answer from any of 2 probes');
        expect(Date.parse(bad.since!)).toBeGreaterThanOrEqual(Date.parse(good.since!));
        const [{ checkId }] = bad.runs as [Monitor['runs'][number]];
        expect((await bed.read(checkId!)).status).toBe('completed');
      } finally {
        clearInterval(answering);
      }
    }),
  );

  it.concurrent(
    'start one traceroute when the monitor turns bad, from failing and working probes; its id is in the event',
    onBed(async (bed) => {
      const { answerJobs } = bed;
      const readAnyTrace: ReadDefinition = (name, request, allow) => {
        const reading = readEcho(name, request, allow);
        const { type, probes } = (request as { check: { type?: string; probes?: readonly string[] } }).check;
        if (type !== 'traceroute' || !reading.valid) return reading;
        const { definition } = reading;
        return {
          valid: true,
          definition: { ...definition, accepted: { ...definition.accepted, submittedHost: 'traced', probes } },
        };
      };
      await bed.core.close();
      const core = bed.startCore({ monitors: { readDefinition: readAnyTrace } });
      const request = { ...web().request, alarm: { when: '1 of 4', for: 1 } };
      await putMonitor(bed.redis, 'web', { owner: 'api', request }, Date.now());
      const failure = { ...success('no'), result: 'failure', error: refused };
      const answering = setInterval(() => {
        void answerJobs('fra-1').catch(() => undefined);
        void answerJobs('nyc-1', failure).catch(() => undefined);
      }, 20);
      try {
        await until(async () => (await core.monitors.read('web').catch(() => undefined))?.state === 'bad');
        const { events } = (await core.monitors.eventsAfter('web', '0-0'))!;
        const turned = events.map(({ event }) => event).find((event) => event.kind === 'state' && event.to === 'bad');
        const id = (turned as { tracerouteId: string }).tracerouteId;
        await until(async () => (await bed.redis.zcard(redisKeys.monitorOutbox)) === 0);
        const check = (await core.checks.read(id, 0, new AbortController().signal))!;

        expect(turned).toMatchObject({ monitor: 'web', failing: ['nyc-1'], agreement: { failing: 1, counted: 2 } });
        expect((await core.monitors.read('web'))?.tracerouteId).toBe(id);
        expect(check.host).toBe('traced');
        expect(Object.keys(check.results)).toEqual(['nyc-1', 'fra-1']);
      } finally {
        clearInterval(answering);
      }
    }),
  );

  it.concurrent(
    'have no check while no probe is online, and say so',
    onBed(async (bed) => {
      const { readWhen } = bed;
      await putMonitor(bed.redis, 'web', web({ locations: ['JP'] }), Date.now());

      const monitor = await readWhen('web', ({ runs }) => runs.length > 0);

      const reason = expect.stringMatching(/^There is no probe at "JP"\./);
      expect(monitor).toMatchObject({ state: 'unknown', probes: {}, headline: reason });
      expect(monitor.runs[0]).toMatchObject({
        tick: 1,
        checkId: null,
        reason,
        results: {},
      });
    }),
  );

  it.concurrent(
    'run from the other named probes after one was removed',
    onBed(async (bed) => {
      const { readWhen } = bed;
      await putMonitor(bed.redis, 'web', web({ probes: ['gone-1', 'fra-1', 'nyc-1'], budget: 50 }), Date.now());

      const monitor = await readWhen('web', ({ runs }) => runs.length > 0);

      expect(monitor.runs[0]).toMatchObject({ checkId: expect.any(String), reason: null });
      expect(Object.keys(monitor.probes)).toEqual(['fra-1', 'gone-1', 'nyc-1']);
      expect(monitor.probes['gone-1']).toMatchObject({ state: 'unmeasured', reason: 'There is no such probe.' });
      expect(Object.keys(monitor.runs[0]!)).not.toContain('removed');
    }),
  );

  it.concurrent(
    'run from the other locations while one has no probe, and name it',
    onBed(async (bed) => {
      const { answerJobs, readWhen, redis } = bed;
      await bed.addProbe('rack-1', { tags: ['rack-7'], countryCode: 'NL' });
      await bed.keepAlive('rack-1');
      await until(async () => (await bed.core.knownProbes().catch(() => [])).filter(({ alive }) => alive).length === 3);
      const places = { locations: ['rack-7', 'JP', 'DE'] };
      await putMonitor(redis, 'web', web(places), Date.now());
      await putMonitor(redis, 'away', web({ locations: ['rack-7', 'JP'] }), Date.now());
      const answering = setInterval(
        () => [...PROBES, 'rack-1'].forEach((probe) => void answerJobs(probe).catch(() => undefined)),
        20,
      );
      try {
        const all = await readWhen('web', ({ state }) => state === 'ok');
        await bed.core.probeRecords.remove('rack-1');
        const rest = await readWhen('web', ({ emptyLocations = [] }) => emptyLocations.length === 2);
        const away = await readWhen('away', ({ runs }) => runs[0]?.checkId === null);

        expect(all.emptyLocations).toEqual(['JP']);
        expect(Object.keys(all.probes)).toContain('rack-1');
        // A tag that no probe has any more means nothing, unlike a country.
        expect(rest).toMatchObject({ state: 'ok', emptyLocations: ['rack-7', 'JP'] });
        expect(Object.keys(rest.probes)).toEqual(PROBES);
        expect(rest.runs[0]).toMatchObject({ reason: null, emptyLocations: ['rack-7', 'JP'] });
        expect(await bed.core.monitors.metrics()).toContain('vantage_monitor_empty_locations{monitor="web"} 2\n');
        expect(away.headline).toMatch(/^There is no probe at "JP"\..* There is no probe at "rack-7" either\.$/);
      } finally {
        clearInterval(answering);
      }
    }),
  );

  it.concurrent(
    'have no check if none of the named probes exists',
    onBed(async (bed) => {
      await putMonitor(bed.redis, 'web', web({ probes: ['gone-1', 'gone-2'] }), Date.now());

      const monitor = await bed.readWhen('web', ({ runs }) => runs.length > 0);

      expect(monitor).toMatchObject({ state: 'unknown', headline: 'The probes that it names do not exist.' });
    }),
  );

  it.concurrent(
    'run from the same probes each time',
    onBed(async (bed) => {
      const { readWhen } = bed;
      for (let index = 0; index < 6; index += 1) {
        await bed.addProbe(`more-${index}`, { asNumber: 'AS64496' });
        await bed.keepAlive(`more-${index}`);
      }
      await until(async () => (await bed.core.knownProbes().catch(() => [])).filter(({ alive }) => alive).length === 8);
      await putMonitor(bed.redis, 'web', web({ limit: 3, budget: 50 }), Date.now());

      const { runs } = await readWhen('web', (monitor) => monitor.runs.length >= 5);
      const probes = runs.map(({ results }) => Object.keys(results).toSorted().join(' '));

      expect(new Set(probes).size).toBe(1);
      expect(Object.keys(runs[0]!.results)).toHaveLength(3);
    }),
  );

  it.concurrent(
    'are taken up under the same number and check if a coordinator ends after its claim',
    onBed(async (bed) => {
      const { answerJobs } = bed;
      await bed.core.close();
      await putMonitor(bed.redis, 'web', web({ everyMs: 3_600_000 }), Date.now());
      const { claimed } = await claimTicks(bed.redis, [drawId()]);
      const claim = JSON.parse(claimed[0]!.claim) as Claim;
      bed.startCore();

      await until(async () => (await bed.redis.llen(redisKeys.monitorOpenTicks('web'))) === 1);
      const open = JSON.parse((await bed.redis.lindex(redisKeys.monitorOpenTicks('web'), 0))!) as Claim;

      expect(open).toMatchObject({ tick: 1, checkId: claim.checkId });
      expect(await answerJobs('fra-1')).toEqual([claim.checkId]);
    }),
  );

  it.concurrent(
    'are not measured twice if a coordinator ends after the start of the check',
    onBed(async (bed) => {
      const { answerJobs } = bed;
      await bed.core.close();
      await putMonitor(bed.redis, 'web', web({ everyMs: 3_600_000 }), Date.now());
      const [id, first] = [
        drawId(),
        bed.startCore({ monitors: { readDefinition: () => ({ valid: false, errors: [] }) } }),
      ];
      await first.close();
      const { claimed } = await claimTicks(bed.redis, [id]);
      const second = bed.startCore();
      const reading = readEcho('web', (JSON.parse(claimed[0]!.stored) as StoredMonitor).request);
      await until(() => second.rateLimitRedis.status === 'ready');
      await until(async () => (await second.knownProbes().catch(() => [])).some(({ alive }) => alive));
      if (!reading.valid) throw new Error('not valid');
      await second.checks.create(reading.definition.accepted, undefined, id);
      const before = await answerJobs('fra-1');

      await until(async () => (await bed.redis.hget(redisKeys.monitorClaims, 'web')) === null);

      expect(before).toEqual([id]);
      expect(await answerJobs('fra-1')).toEqual([]);
    }),
  );

  it.concurrent(
    'are evaluated by another coordinator if the one that started the check ends',
    onBed(async (bed) => {
      await putMonitor(bed.redis, 'web', web({ everyMs: 3_600_000, budget: 500 }), Date.now());
      await until(async () => (await bed.redis.llen(redisKeys.monitorOpenTicks('web'))) === 1);
      await bed.core.close();
      const other = bed.startCore();

      await until(async () => ((await other.monitors.read('web').catch(() => undefined))?.runs.length ?? 0) === 1);

      expect(await other.monitors.read('web')).toMatchObject({ runs: [{ tick: 1 }] });
    }),
  );

  it.concurrent(
    'keep the alarm of a monitor that is changed while it is bad, and soon say whether it lasts',
    onBed(async (bed) => {
      const { answerJobs, readWhen } = bed;
      await putMonitor(bed.redis, 'web', web(), Date.now());
      let answer: object | undefined = { ...success('no'), result: 'failure', error: refused };
      const answering = setInterval(
        () => PROBES.forEach((probe) => void answerJobs(probe, answer).catch(() => undefined)),
        20,
      );
      try {
        const { alarmSince } = await readWhen('web', ({ state }) => state === 'bad');
        clearInterval(answering);
        const [changed, soonMs] = [web({ everyMs: 3_600_000 }), Date.now() + 2_000];
        await putMonitor(bed.redis, 'web', changed, Date.now() + 3_600_000, 10, soonMs);
        const afterwards = await bed.core.monitors.read('web');
        answer = undefined;
        const resuming = setInterval(
          () => PROBES.forEach((probe) => void answerJobs(probe, answer).catch(() => undefined)),
          20,
        );
        const good = await readWhen('web', ({ state }) => state === 'ok').finally(() => clearInterval(resuming));

        expect(alarmSince).not.toBeNull();
        expect(afterwards).toMatchObject({ state: 'unknown', alarmSince, agreement: null, headline: null, probes: {} });
        expect(afterwards?.nextTickAt).toBe(new Date(soonMs).toISOString());
        expect(good.alarmSince).toBeNull();
      } finally {
        clearInterval(answering);
      }
    }),
  );

  it.concurrent(
    'end with the monitor',
    onBed(async (bed) => {
      await putMonitor(bed.redis, 'web', web(), Date.now());
      await until(async () => (await bed.redis.llen(redisKeys.monitorOpenTicks('web'))) > 0);

      expect(await removeMonitor(bed.redis, 'web', 'api')).toBe('removed');
      expect(await bed.core.monitors.read('web')).toBeUndefined();
      expect(await bed.redis.keys('{monitors}:*:web')).toEqual([]);
    }),
  );
});

describe('the schedule of monitors', () => {
  it.concurrent(
    'follows a step of the clock of Redis back by less than two intervals',
    onBed(async (bed) => {
      const [clock, everyMs] = [createRedisClock(), 3_600_000];
      const readStored = createReadStored(readEcho);
      await bed.core.close();
      await putMonitor(bed.redis, 'web', web({ everyMs }), (await clock.now(bed.redis)) + 1.5 * everyMs);

      await correctSchedule(bed.redis, clock, readStored);

      const due = Number(await bed.redis.zscore(redisKeys.monitorsDue, 'web'));
      const now = await clock.now(bed.redis);
      expect(due).toBeGreaterThan(now);
      expect(due).toBeLessThanOrEqual(now + everyMs);
    }),
  );

  it.concurrent(
    'makes up for ticks that were missed within a minute, not all at once',
    onBed(async (bed) => {
      await bed.core.close();
      const [names, everyMs] = [Array.from({ length: 60 }, (_, index) => `monitor-${index}`), 3_600_000];
      const begin = Date.now();
      for (const name of names) await putMonitor(bed.redis, name, web({ everyMs }), begin - 150_000);
      bed.startCore();

      let due: readonly number[] = [];
      await until(async () => {
        const all = await readDue(bed.redis);
        // On a busy machine some have had their tick, and their next one is due within an hour.
        const ticked = new Set(await bed.redis.hkeys(redisKeys.monitorTicks));
        due = [...all].flatMap(([name, at]) => (ticked.has(name) ? [] : [at]));
        return Math.min(...all.values()) > begin && new Set(due).size > names.length / 2;
      });
      await until(async () => (await bed.redis.hlen(redisKeys.monitorTicks)) > 0);
      const tenths = due.map((at) => Math.floor((at - begin) / 6_000));

      expect(new Set(tenths).size).toBeGreaterThan(5);
      expect(Math.max(...due)).toBeLessThanOrEqual(Date.now() + 60_000);
      expect(await bed.redis.hlen(redisKeys.monitorTicks)).toBeLessThan(names.length);
    }),
  );

  it.concurrent(
    'leaves a missed tick due until it is postponed, once, so that it cannot become one in time',
    onBed(async (bed) => {
      await bed.core.close();
      const atMs = Date.now() - 150_000;
      await putMonitor(bed.redis, 'web', web({ everyMs: 3_600_000 }), atMs);

      // The first coordinator stalls before it postpones the tick; the second does it.
      const first = await claimTicks(bed.redis, [drawId()]);
      const second = await claimTicks(bed.redis, [drawId()]);
      const [later, laterStill] = [Date.now() + 30_000, Date.now() + 50_000];
      await postponeTicks(bed.redis, [[second.missed[0]!, later]]);
      await postponeTicks(bed.redis, [[first.missed[0]!, laterStill]]);

      expect([first, second].map(({ claimed, missed }) => [claimed.length, missed.map((tick) => tick.atMs)])).toEqual([
        [0, [String(atMs)]],
        [0, [String(atMs)]],
      ]);
      expect((await readDue(bed.redis)).get('web')).toBe(later);
      expect(await bed.redis.hlen(redisKeys.monitorTicks)).toBe(0);
    }),
  );

  it('keeps a bounded number of definitions', () => {
    const read: string[] = [];
    const readStored = createReadStored((name, request) => {
      read.push(name);
      return readEcho(name, request);
    });
    const stored = JSON.stringify(web());
    readStored('removed', stored);
    readStored('removed', stored);
    for (let index = 0; index < MOST_KNOWN; index += 1) readStored(`monitor-${index}`, stored);
    readStored('removed', stored);

    expect(read.filter((name) => name === 'removed')).toHaveLength(2);
  });
});

describe('the file of monitors', () => {
  const fileOf = ({ folder }: Bed): string => join(folder, 'monitors.yml');
  const write = (bed: Bed, text: string): void => writeFileSync(fileOf(bed), text);
  const entry = (name: string, more = ''): string => `  ${name}:\n    check: {budget: 50}\n    every: 1h\n${more}`;
  const names = async ({ core }: Bed): Promise<readonly string[]> =>
    Object.keys(await core.monitors.list().catch(() => ({})));

  it.concurrent(
    'is followed, owns what it names, and keeps its last valid content',
    onBed(async (bed) => {
      const logged: string[] = [];
      const log = {
        debug: ignore,
        info: ignore,
        warn: ignore,
        error: (_fields: unknown, text?: string) => logged.push(text ?? ''),
      };
      await putMonitor(bed.redis, 'of-api', web(), 9e15);
      write(bed, `monitors:\n${entry('one')}${entry('two')}`);
      const core = bed.startCore({
        log: log as never,
        monitors: { readDefinition: readEcho, file: fileOf(bed) },
      });
      await until(async () => (await names(bed)).join() === 'of-api,one,two');
      expect(await putMonitor(bed.redis, 'one', web(), Date.now())).toBe('file');
      expect(await removeMonitor(bed.redis, 'one', 'api')).toBe('file');

      write(bed, `monitors:\n${entry('two')}${entry('three')}`);
      await until(async () => (await names(bed)).join() === 'of-api,three,two');
      write(bed, 'monitors: [');
      await until(() => core.monitors.fileFault() !== undefined);

      expect(core.monitors.fileFault()).toContain('monitors.yml:1: ');
      expect(logged).toEqual(['MONITORS_FILE rejected; its last valid content stays']);
      expect(await names(bed)).toEqual(['of-api', 'three', 'two']);
      expect(await core.monitors.list()).toMatchObject({ 'of-api': { owner: 'api' }, three: { owner: 'file' } });
    }),
  );

  it.concurrent(
    'is not applied while it is being written',
    onBed(async (bed) => {
      const file = followMonitorsFile({
        path: fileOf(bed),
        redis: bed.redis,
        clock: createRedisClock(),
        readDefinition: readEcho,
        log: quiet,
      });
      const whole = `monitors:\n${entry('one')}${entry('two')}`;
      write(bed, whole);
      await file.poll();
      await file.poll();
      await bed.redis.set(redisKeys.monitorState('two'), '{}');
      for (const text of [whole.slice(0, whole.indexOf('  two:')), 'monitors: [', whole]) {
        write(bed, text);
        await file.poll();
        expect([await names(bed), file.fault()]).toEqual([['one', 'two'], undefined]);
      }
      await file.poll();

      // A monitor that had been removed and added again would have no state.
      expect(await bed.redis.get(redisKeys.monitorState('two'))).toBe('{}');
    }),
  );

  it.concurrent(
    'that another coordinator does not have is reported by the one whose file is not in force',
    onBed(async (bed) => {
      write(bed, `monitors:\n${entry('one')}`);
      const first = bed.startCore({ monitors: { readDefinition: readEcho, file: fileOf(bed) } });
      await until(async () => (await names(bed)).join() === 'one');
      const others = `monitors:\n${entry('two')}`;
      writeFileSync(join(bed.folder, 'others.yml'), others);
      const second = bed.startCore({ monitors: { readDefinition: readEcho, file: join(bed.folder, 'others.yml') } });
      await until(async () => (await names(bed)).join() === 'two');

      await until(() => first.monitors.fileFault() !== undefined);
      expect(first.monitors.fileFault()).toContain('monitors.yml: the file of another coordinator differs');
      expect(second.monitors.fileFault()).toBeUndefined();

      write(bed, others);
      await until(() => first.monitors.fileFault() === undefined);
      expect(await names(bed)).toEqual(['two']);
    }),
  );

  it.concurrent(
    'is applied again when Redis has lost its last version',
    onBed(async (bed) => {
      write(bed, `monitors:\n${entry('one')}`);
      bed.startCore({ monitors: { readDefinition: readEcho, file: fileOf(bed) } });
      await until(async () => (await names(bed)).join() === 'one');
      await until(async () => (await bed.redis.get(redisKeys.monitorsFile)) !== null);
      const before = (await bed.redis.get(redisKeys.monitorsFile))!;
      write(bed, `monitors:\n${entry('one')}${entry('two')}`);
      await until(async () => (await names(bed)).join() === 'one,two');
      await until(async () => (await bed.redis.get(redisKeys.monitorsFile)) !== before);

      // Simulates a failover to a replica that lacks the last version.
      await removeMonitor(bed.redis, 'two', 'file');
      await bed.redis.set(redisKeys.monitorsFile, before);

      await until(async () => (await names(bed)).join() === 'one,two');
      expect(await bed.redis.get(redisKeys.monitorsFile)).not.toBe(before);
    }),
  );

  it.concurrent(
    'is applied again when Redis has lost its monitors',
    onBed(async (bed) => {
      write(bed, `monitors:\n${entry('one')}`);
      bed.startCore({ monitors: { readDefinition: readEcho, file: fileOf(bed) } });
      await until(async () => (await names(bed)).join() === 'one');

      await bed.redis.del(redisKeys.monitors, redisKeys.monitorsFile, redisKeys.monitorsDue);

      await until(async () => (await names(bed)).join() === 'one');
      expect((await bed.core.monitors.list())['one']?.nextTickAt).not.toBeNull();
    }),
  );
});

function ignore(): void {
  // Other log levels are ignored.
}

import { JOB_QUEUE, redisKeys, screenshotJobId } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { echo } from '../../test/echo-type.ts';
import { PATIENT_MS, quiet, startCoreBed, until, type CoreBed } from '../../test/core-bed.ts';
import { report, success } from '../../test/check-steps.ts';
import { photo } from '../../test/photo.ts';
import { withdrawJobs } from '../probes/access/withdraw-jobs.ts';
import { suspendedFailure } from '../probes/access/withdrawal.ts';
import { createRedisClock } from '../redis/clock.ts';
import { createCounters } from './store/counters.ts';
import { createDeadlines } from './store/deadlines.ts';
import { createJobQueues } from './store/job-queues.ts';
import { WithdrawnProbes, type WithdrawnProbesDependencies } from './withdrawn-probes.ts';

let bed: CoreBed;
let probes = 0;

beforeAll(async () => {
  bed = await startCoreBed({}, { checkTypes: { echo, photo } });
});

afterAll(async () => {
  await bed.stop();
});

/** Makes a probe that only one test uses. */
async function freshProbe({ screenshot = false } = {}): Promise<string> {
  probes += 1;
  const id = `fra-${probes}`;
  await bed.addProbe(id);
  const beat = (): Promise<void> =>
    bed.beat(id, { capabilities: { types: ['echo', 'photo'], ipv4: true, ipv6: true, screenshot } });
  await beat();
  await until(async () =>
    (await bed.core.knownProbes().catch(() => [])).some(({ record, alive }) => record.id === id && alive),
  );
  return id;
}

const suspend = (probe: string, reason: string): Promise<number> => bed.redis.hset(redisKeys.suspended, probe, reason);

const isWaiting = async (probe: string, id: string): Promise<boolean> =>
  (await bed.redis.lpos(`${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:wait`, id)) !== null;

describe('a probe that is suspended or removed', () => {
  it('ends what it has not answered with the reason, keeps what it had shown, and leaves other probes their time', async () => {
    const [gone, other] = [await freshProbe(), await freshProbe()];
    const id = await bed.start({ probes: [gone, other] });
    const partial = { said: 'so far', startedAt: '2026-01-01T00:00:00.000Z', resolvedIp: '192.0.2.1' };
    await report(bed.redis, gone, id, partial, { kind: 'partial' });
    await until(async () => 'said' in (await bed.read(id)).results[gone]!);

    await suspend(gone, 'Suspended by its operator: moved');
    await until(async () => (await bed.read(id)).results[gone]!['result'] !== 'pending');

    const check = await bed.read(id);
    expect(check.status).toBe('pending');
    expect(check.results[other]).toMatchObject({ result: 'pending' });
    expect(check.results[gone]).toEqual({
      ...partial,
      result: 'error',
      rt: null,
      country: 'Nowhere',
      finishedAt: expect.any(String),
      error: {
        code: 'probe_suspended',
        phase: 'dispatch',
        source: 'probe',
        message: 'The probe was suspended before it had answered. Suspended by its operator: moved',
      },
    });
    expect([await isWaiting(gone, id), await isWaiting(other, id)]).toEqual([false, true]);
  });

  it('completes a check whose only job it had not begun', async () => {
    const gone = await freshProbe();
    const id = await bed.start({ probes: [gone] });

    await bed.core.probeRecords.remove(gone);

    expect((await bed.read(id, PATIENT_MS)).results[gone]).toMatchObject({
      result: 'error',
      error: { code: 'probe_removed', message: 'The probe was removed before it had answered.' },
    });
  });

  it('ends what was taken out of its queue, also if it works again by then, and nothing else', async () => {
    const [gone, other] = [await freshProbe(), await freshProbe()];
    const before = await bed.start({ probes: [gone, other] });
    await withdrawJobs(bed.redis, gone, suspendedFailure('Suspended by its operator: moved'));
    const wasWaiting = await isWaiting(gone, before);
    const after = await bed.start({ probes: [gone] });
    await until(async () => (await bed.read(before)).results[gone]!['result'] !== 'pending');
    await until(async () => (await bed.redis.exists(redisKeys.withdrawnJobs)) === 0);

    const { results } = await bed.read(before);
    expect(wasWaiting).toBe(false);
    expect(results[other]).toMatchObject({ result: 'pending' });
    expect(results[gone]).toMatchObject({
      error: { code: 'probe_suspended', message: expect.stringContaining('moved') },
    });
    expect((await bed.read(after)).results[gone]).toMatchObject({ result: 'pending' });
    expect(await isWaiting(gone, after)).toBe(true);
  });

  it('gives up its screenshot with the same reason', async () => {
    const gone = await freshProbe({ screenshot: true });
    const params = { host: 'target.example', options: { budget: 120_000, screenshot: true } };
    const id = await bed.start({ checkType: photo, params, probes: [gone] });
    await report(bed.redis, gone, id, { ...success('page'), statusCode: 200 });
    await until(async () => (await bed.read(id)).results[gone]!['result'] === 'success');

    expect(await isWaiting(gone, screenshotJobId(id))).toBe(true);

    await suspend(gone, 'Suspended by its operator.');

    const { results } = await bed.read(id, PATIENT_MS);
    expect(results[gone]).toMatchObject({ result: 'success' });
    const outcome = await bed.core.checks.screenshot(id);
    expect(outcome?.screenshot).toMatchObject({ state: 'given_up', reason: { code: 'probe_suspended' } });
    await until(async () => !(await isWaiting(gone, screenshotJobId(id))));
  });
});

describe('the look for probes that were suspended or removed', () => {
  it('finds the checks that a coordinator starts before it has learned of the change, and then reads no more', async () => {
    const gone = await freshProbe();
    await bed.core.close();
    const watch = watcher();
    await suspend(gone, 'Suspended by its operator.');

    await watch.poll();
    const lateChecks: string[] = [];
    for (const passedMs of [4_000, 2_000, 2_000]) {
      const id = `late-check-of-${gone}-${passedMs}-${lateChecks.length}`;
      lateChecks.push(id);
      await startCheckOf(gone, id);
      watch.pass(passedMs);
      await watch.poll();
    }

    const ended = await Promise.all(lateChecks.map((id) => bed.redis.hexists(redisKeys.check(id), 'completedAt')));
    expect(ended).toEqual([1, 1, 0]);
  });

  it('waits while results of an outage are expected or another master may be the right one', async () => {
    const gone = 'ber-1';
    await bed.redis.sadd(redisKeys.probeIds, gone);
    await startCheckOf(gone, 'check-in-grace');
    await suspend(gone, 'Suspended by its operator.');
    const isCompleted = (): Promise<number> => bed.redis.hexists(redisKeys.check('check-in-grace'), 'completedAt');
    const state = { isGrace: true, isOpen: true };
    const watch = watcher({ isGrace: () => state.isGrace, gate: { isOpen: () => state.isOpen } });

    await watch.poll();
    const inGrace = await isCompleted();
    Object.assign(state, { isGrace: false, isOpen: false });
    await watch.poll();
    const whileClosed = await isCompleted();
    state.isOpen = true;
    await watch.poll();

    expect([inGrace, whileClosed, await isCompleted()]).toEqual([0, 0, 1]);
  });
});

/** A check as another coordinator writes it. */
async function startCheckOf(probe: string, id: string): Promise<void> {
  const now = Date.now();
  const fields = {
    v: 0,
    type: 'echo',
    host: 'h',
    probes: probe,
    createdAt: now,
    deadlineAt: now + 600_000,
    pending: 1,
  };
  await bed.redis.hset(redisKeys.check(id), fields);
  await bed.redis.hset(redisKeys.checkResults(id), probe, '');
  await bed.redis.zadd(redisKeys.deadlines, now + 600_000, id);
}

/** The task of a coordinator whose probes do not change any more, with a manual clock. */
function watcher(more: Partial<WithdrawnProbesDependencies> = {}): {
  readonly poll: () => Promise<void>;
  readonly pass: (ms: number) => void;
} {
  let nowMs = 0;
  const { poll } = new WithdrawnProbes({
    redis: bed.redis,
    clock: createRedisClock(),
    deadlines: createDeadlines(bed.redis),
    queues: createJobQueues(bed.redis, quiet),
    directory: { changes: () => 1 },
    ingest: { drain: async () => undefined },
    screenshots: { passOn: async () => undefined },
    retentionMs: 3_600_000,
    counters: createCounters(),
    isGrace: () => false,
    gate: { isOpen: () => true },
    log: quiet,
    nowMs: () => nowMs,
    ...more,
  });
  return { poll, pass: (ms) => void (nowMs += ms) };
}

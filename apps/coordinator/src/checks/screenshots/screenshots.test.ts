import {
  JOB_QUEUE,
  redisKeys,
  screenshotJobId,
  type Failure,
  type Heartbeat,
  type Job,
  type Screenshot,
} from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { echo } from '../../../test/echo-type.ts';
import { passDeadline, report, success } from '../../../test/check-steps.ts';
import { PATIENT_MS, startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { blankPng, photo, reportPhoto } from '../../../test/photo.ts';
import type { Core } from '../../core.ts';

let bed: CoreBed;
let beating: NodeJS.Timeout;
let lastBeat: Promise<unknown> = Promise.resolve();
const beats = new Map<string, Partial<Heartbeat>>();
const png = blankPng();

/** Probes that no test has used yet, with and without a browser. */
const unused = { true: names('cam', 47), false: names('plain', 10) };

beforeAll(async () => {
  bed = await startCoreBed({}, { checkTypes: { echo, photo } });
  for (const [camera, ids] of Object.entries(unused)) {
    const screenshot = camera === 'true';
    for (const id of ids) {
      await bed.addProbe(id);
      beats.set(id, { capabilities: { types: ['echo', 'photo'], ipv4: true, ipv6: true, screenshot } });
    }
  }
  await beatAll();
  beating = setInterval(() => void beatAll(), 2_000);
  await until(() => knowsAll(bed.core));
});

afterAll(async () => {
  clearInterval(beating);
  await bed.stop();
});

function names(kind: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${kind}-${index + 1}`);
}

async function beatAll(): Promise<void> {
  lastBeat = Promise.all([...beats].map(([id, claims]) => bed.beat(id, claims))).catch(() => undefined);
  await lastBeat;
}

async function knowsAll(core: Core): Promise<boolean> {
  const known = await core.knownProbes().catch(() => []);
  return known.filter(({ heartbeat }) => heartbeat !== undefined).length >= beats.size;
}

async function goOffline(probe: string): Promise<void> {
  beats.delete(probe);
  await lastBeat;
  await bed.redis.del(redisKeys.heartbeat(probe));
}

/** Probes of this test alone; `cameras` says which can take screenshots. */
function probes(cameras: readonly boolean[]): readonly string[] {
  return cameras.map((camera) => unused[`${camera}`].pop()!);
}

function start(on: readonly string[], { budget = 120_000, screenshot = true } = {}): Promise<string> {
  const params = { host: 'target.example', options: { budget, screenshot } };
  return bed.start({ checkType: photo, params, probes: on });
}

const jobKey = (probe: string, jobId: string): string => `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:${jobId}`;

async function jobOf(probe: string, jobId: string): Promise<Job | undefined> {
  const data = await bed.redis.hget(jobKey(probe, jobId), 'data');
  return data === null ? undefined : (JSON.parse(data) as Job);
}

/** The probe that has a job for the screenshot, and was not asked before. */
async function screenshotProbe(id: string, on: readonly string[], not: readonly string[] = []): Promise<string> {
  let found: string | undefined;
  await until(async () => {
    for (const probe of on) {
      if (!not.includes(probe) && (await jobOf(probe, screenshotJobId(id))) !== undefined) found = probe;
    }
    return found !== undefined;
  });
  return found!;
}

const shown = (said: string): object => ({ ...success(said), statusCode: 200 });

function failure(message: string): Failure {
  return { code: 'screenshot_failed', phase: 'response', source: 'target', message };
}

const outcome = async (id: string): Promise<Screenshot | undefined> =>
  (await bed.core.checks.screenshot(id))?.screenshot;

describe('the screenshot of a check', () => {
  it('is a separate job for one capable probe, and leaves the results their own time', async () => {
    const on = probes([false, true, false]);

    const id = await start(on, { budget: 4_000 });

    const check = await bed.read(id);
    const createdAt = Date.parse(check.createdAt);
    expect(await jobOf(on[1]!, screenshotJobId(id))).toEqual({
      v: 1,
      checkId: id,
      type: 'screenshot',
      deadlineAt: createdAt + 19_000,
      params: { url: 'http://target.example/', insecureSSL: false },
    });
    expect((await jobOf(on[1]!, id))!.deadlineAt).toBe(createdAt + 4_000);
    expect(await jobOf(on[0]!, screenshotJobId(id))).toBeUndefined();
    expect(await outcome(id)).toEqual({ state: 'pending', probe: on[1], reason: null });
  });

  it('is in the result of exactly the probe that took it, while the results stand at once', async () => {
    const on = probes([true, true]);
    const id = await start(on);
    const taker = await screenshotProbe(id, on);

    for (const probe of on) await report(bed.redis, probe, id, shown(probe));
    await until(async () => Object.values((await bed.read(id)).results).every(isFinal));
    expect((await bed.read(id)).status).toBe('pending');
    await reportPhoto(bed.redis, taker, id, { png });

    const check = await bed.read(id, PATIENT_MS);
    expect(check.status).toBe('completed');
    expect(on.map((probe) => check.results[probe]!['screenshot'])).toEqual(
      on.map((probe) => (probe === taker ? png.toString('base64') : undefined)),
    );
    expect(await outcome(id)).toEqual({ state: 'taken', probe: taker, reason: null });
    expect((await bed.core.checks.screenshot(id))?.png).toEqual(png);
  });

  it('is shown before the result of its probe, which it does not end', async () => {
    const on = probes([true]);
    const id = await start(on);
    await reportPhoto(bed.redis, on[0]!, id, { png });

    await until(async () => (await outcome(id))?.state === 'taken');

    const check = await bed.read(id);
    expect(check.status).toBe('pending');
    expect(check.results[on[0]!]).toEqual({ result: 'pending', screenshot: png.toString('base64') });
    await report(bed.redis, on[0]!, id, shown('later'));
    expect((await bed.read(id, PATIENT_MS)).results[on[0]!]).toMatchObject({
      result: 'success',
      said: 'later',
      screenshot: png.toString('base64'),
    });
  });

  it('is kept no longer than its check', async () => {
    const on = probes([true]);
    const id = await start(on);
    await reportPhoto(bed.redis, on[0]!, id, { png });
    await until(async () => (await outcome(id))?.state === 'taken');

    const key = redisKeys.checkScreenshot(id, on[0]!);
    expect(await bed.redis.getBuffer(key)).toEqual(png);
    expect(await bed.redis.pttl(key)).toBeLessThanOrEqual((await bed.redis.pttl(redisKeys.check(id))) + 1_000);
    expect(await bed.redis.pttl(key)).toBeGreaterThan(0);
  });

  it('is not taken where the caller wants none, and the check lasts no longer', async () => {
    const on = probes([true]);
    const id = await start(on, { screenshot: false, budget: 3_000 });

    expect(await jobOf(on[0]!, screenshotJobId(id))).toBeUndefined();
    expect(await outcome(id)).toEqual({ state: 'not_asked', probe: null, reason: null });
    const [createdAt, deadlineAt] = await bed.redis.hmget(redisKeys.check(id), 'createdAt', 'deadlineAt');
    expect(Number(deadlineAt) - Number(createdAt)).toBe(3_000);
    await report(bed.redis, on[0]!, id, shown('alone'));
    expect((await bed.read(id, PATIENT_MS)).status).toBe('completed');
  });

  it('is waited for by no check whose probes cannot take one', async () => {
    const on = probes([false, false]);
    const id = await start(on, { budget: 3_000 });
    const [createdAt, deadlineAt] = await bed.redis.hmget(redisKeys.check(id), 'createdAt', 'deadlineAt');
    expect(Number(deadlineAt) - Number(createdAt)).toBe(3_000);

    for (const probe of on) await report(bed.redis, probe, id, shown(probe));

    expect((await bed.read(id, PATIENT_MS)).status).toBe('completed');
    expect(await outcome(id)).toMatchObject({
      state: 'given_up',
      probe: null,
      reason: { code: 'capability_missing' },
    });
  });

  it('of a check of an older release is none', async () => {
    const on = probes([true]);
    const id = await start(on);
    await bed.redis.hdel(redisKeys.check(id), 'shot', 'shotAsked', 'shotParams');
    await bed.redis.hset(redisKeys.check(id), 'pending', 1);

    expect(await outcome(id)).toEqual({ state: 'not_asked', probe: null, reason: null });
    await reportPhoto(bed.redis, on[0]!, id, { png });
    await report(bed.redis, on[0]!, id, shown('old'));

    const check = await bed.read(id, PATIENT_MS);
    expect([check.status, check.results[on[0]!]!['screenshot']]).toEqual(['completed', undefined]);
  });
});

describe('a screenshot that fails', () => {
  it('is handed over to the next probe that can, with the same parameters', async () => {
    const on = probes([true, true, false]);
    const id = await start(on);
    const first = await screenshotProbe(id, on);
    const job = await jobOf(first, screenshotJobId(id));
    const handedOver = bed.core.counters.screenshotsHandedOver;

    await reportPhoto(bed.redis, first, id, { failure: failure('Not from here.') });

    const second = await screenshotProbe(id, on, [first]);
    expect(second).not.toBe(first);
    expect(await jobOf(second, screenshotJobId(id))).toEqual(job);
    expect(await outcome(id)).toEqual({ state: 'pending', probe: second, reason: null });
    expect(bed.core.counters.screenshotsHandedOver).toBeGreaterThan(handedOver);
    await reportPhoto(bed.redis, second, id, { png });
    for (const probe of on) await report(bed.redis, probe, id, shown(probe));
    const check = await bed.read(id, PATIENT_MS);
    expect(check.status).toBe('completed');
    expect(check.results[second]).toHaveProperty('screenshot');
  });

  it.each([
    ['no probe is left to ask', [true, true]],
    ['two have tried, since each makes the target send a page', [true, true, true]],
  ])('is given up with the last reason when %s', async (_when, cameras) => {
    const on = probes(cameras);
    const id = await start(on);
    for (const probe of on) await report(bed.redis, probe, id, shown(probe));
    const first = await screenshotProbe(id, on);
    await reportPhoto(bed.redis, first, id, { failure: failure('Not from here.') });
    const second = await screenshotProbe(id, on, [first]);
    await reportPhoto(bed.redis, second, id, { failure: failure('Nor from here.') });

    const check = await bed.read(id, PATIENT_MS);

    expect(check.status).toBe('completed');
    expect(JSON.stringify(check.results)).not.toContain('screenshot');
    expect(await outcome(id)).toEqual({ state: 'given_up', probe: second, reason: failure('Nor from here.') });
    expect(await bed.redis.zrangebyscore(redisKeys.screenshots, '-inf', '+inf')).not.toEqual(
      expect.arrayContaining([expect.stringContaining(id)]),
    );
  });

  it.each([
    ['short', 'nothing'],
    ['so long that it is stored compressed', 'nothing '.repeat(1_000)],
  ])('is not handed over to a probe that has found that there is no page: its result is %s', async (_name, said) => {
    const on = probes([true, true]);
    const id = await start(on);
    const first = await screenshotProbe(id, on);
    const other = on.find((probe) => probe !== first)!;
    const refused = {
      ...success(said),
      result: 'failure',
      error: { code: 'connection_refused', phase: 'connect', source: 'target', message: 'No.' },
    };
    for (const probe of on) await report(bed.redis, probe, id, refused);
    await until(async () => Object.values((await bed.read(id)).results).every(isFinal));

    await reportPhoto(bed.redis, first, id, { failure: failure('Refused.') });

    expect((await bed.read(id, PATIENT_MS)).status).toBe('completed');
    expect(await outcome(id)).toEqual({ state: 'given_up', probe: first, reason: failure('Refused.') });
    expect(await jobOf(other, screenshotJobId(id))).toBeUndefined();
  });

  it('is not handed over where too little time is left', async () => {
    const core = bed.startCore({ screenshotBudgetMs: 1_500 });
    await until(() => knowsAll(core));
    const on = probes([true, true]);
    const params = { host: 'target.example', options: { budget: 1_000, screenshot: true } };
    const creation = await core.checks.create({
      checkType: photo,
      submittedHost: 'x',
      params,
      probes: on,
      limit: 10,
    });
    const id = creation.created ? creation.checkId : '';
    const first = (await outcome(id))!.probe!;

    await reportPhoto(bed.redis, first, id, { failure: failure('Not from here.') });

    await until(async () => (await outcome(id))?.state === 'given_up');
    expect(await outcome(id)).toMatchObject({ probe: first });
    await core.close();
  });

  it('is handed over when its probe goes offline, and what that says later changes nothing', async () => {
    const on = probes([true, true]);
    const id = await start(on);
    const first = await screenshotProbe(id, on);
    await goOffline(first);

    const second = await screenshotProbe(id, on, [first]);

    await until(async () => (await jobOf(first, screenshotJobId(id))) === undefined);
    await reportPhoto(bed.redis, first, id, { failure: failure('I am back.') });
    await bed.beat(first, { capabilities: { types: ['photo'], ipv4: true, ipv6: true, screenshot: true } });
    await reportPhoto(bed.redis, second, id, { png });
    await until(async () => (await outcome(id))?.state === 'taken');
    expect(await outcome(id)).toMatchObject({ probe: second });
  });

  it('is taken from a probe that was given up on, where it comes first', async () => {
    const on = probes([true, true]);
    const id = await start(on);
    const first = await screenshotProbe(id, on);
    await goOffline(first);
    const second = await screenshotProbe(id, on, [first]);

    await reportPhoto(bed.redis, first, id, { png });

    await until(async () => (await outcome(id))?.state === 'taken');
    expect(await outcome(id)).toMatchObject({ probe: first });
    await until(async () => (await jobOf(second, screenshotJobId(id))) === undefined);
  });

  it('is asked of another probe at once where the queue of the first is broken', async () => {
    const on = probes([true, true]);
    // The agent of a probe can write to the keys of its queue.
    await bed.redis.set(`${redisKeys.queuePrefix(on[0]!)}:${JOB_QUEUE}:wait`, 'broken');

    const ids = await Promise.all(Array.from({ length: 6 }, () => start(on)));

    for (const id of ids) expect(await screenshotProbe(id, [on[1]!])).toBe(on[1]);
  });
});

describe('the end of a screenshot', () => {
  it('comes with the deadline of the check, and its waiting job is taken back', async () => {
    const on = probes([true]);
    const id = await start(on);
    await report(bed.redis, on[0]!, id, shown('in time'));
    await until(async () => Object.values((await bed.read(id)).results).every(isFinal));
    await passDeadline(bed.redis, id);

    const check = await bed.read(id, PATIENT_MS);

    expect(check.status).toBe('completed');
    expect(check.results[on[0]!]).toMatchObject({ result: 'success', said: 'in time' });
    expect(await outcome(id)).toMatchObject({ state: 'given_up', probe: on[0], reason: { code: 'probe_timeout' } });
    expect(await jobOf(on[0]!, screenshotJobId(id))).toBeUndefined();
    const dropped = bed.core.counters.screenshotsDropped;
    await reportPhoto(bed.redis, on[0]!, id, { png });
    await until(() => bed.core.counters.screenshotsDropped > dropped);
    expect(await outcome(id)).toMatchObject({ state: 'given_up' });
    expect(await bed.redis.exists(redisKeys.checkScreenshot(id, on[0]!))).toBe(0);
  });

  it('counts one that was written in time and not read before the deadline', async () => {
    const on = probes([true]);
    const id = await start(on);
    await report(bed.redis, on[0]!, id, shown('in time'));
    await until(async () => Object.values((await bed.read(id)).results).every(isFinal));
    // The entry is written without a notification, and the check is due at once: expiry reads the stream once more.
    const [seconds, microseconds] = await bed.redis.time();
    const nowMs = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
    await bed.redis
      .multi()
      .xadd(
        redisKeys.results(on[0]!),
        `${nowMs}-*`,
        'check',
        id,
        'kind',
        'screenshot',
        'data',
        '{"failure":null}',
        'png',
        png,
      )
      .hset(redisKeys.check(id), 'deadlineAt', nowMs + 1)
      .zadd(redisKeys.deadlines, nowMs + 1, id)
      .exec();

    expect((await bed.read(id, PATIENT_MS)).status).toBe('completed');
    expect(await outcome(id)).toMatchObject({ state: 'taken' });
  });

  it.each<[string, () => Buffer]>([
    ['no PNG', () => Buffer.from('<svg/>')],
    ['of another size', () => blankPng({ width: 640, height: 480 })],
    ['too large', () => Buffer.concat([png, Buffer.alloc(4 * 1024 * 1024)])],
  ])('is not a screenshot that is %s: another probe is asked', async (_what, forged) => {
    const on = probes([true, true]);
    const id = await start(on);
    const first = await screenshotProbe(id, on);
    const invalid = bed.core.counters.screenshotsInvalid;

    await reportPhoto(bed.redis, first, id, { png: forged() });

    const second = await screenshotProbe(id, on, [first]);
    expect(bed.core.counters.screenshotsInvalid).toBeGreaterThan(invalid);
    await reportPhoto(bed.redis, second, id, { png });
    await until(async () => (await outcome(id))?.state === 'taken');
  });

  it('is not what a probe says that was not asked, nor what comes for a check that wants none', async () => {
    const on = probes([true, false]);
    const [id, without] = [await start(on), await start(on, { screenshot: false })];
    const dropped = bed.core.counters.screenshotsDropped;

    await reportPhoto(bed.redis, on[1]!, id, { png });
    await reportPhoto(bed.redis, on[1]!, id, { failure: failure('Forged.') });
    await reportPhoto(bed.redis, on[0]!, without, { png });
    await reportPhoto(bed.redis, on[0]!, 'AAAAAAAAAAAAAAAAAAAAAA', { png });

    await until(() => bed.core.counters.screenshotsDropped >= dropped + 4);
    expect(await outcome(id)).toEqual({ state: 'pending', probe: on[0], reason: null });
    expect(await outcome(without)).toMatchObject({ state: 'not_asked' });
    expect(await bed.redis.exists(redisKeys.checkScreenshot(id, on[1]!))).toBe(0);
  });

  it('is the first screenshot; a second one changes nothing', async () => {
    const on = probes([true]);
    const id = await start(on);
    await reportPhoto(bed.redis, on[0]!, id, { png });
    await until(async () => (await outcome(id))?.state === 'taken');
    const dropped = bed.core.counters.screenshotsDropped;

    await reportPhoto(bed.redis, on[0]!, id, {
      png: Buffer.concat([png.subarray(0, -12), Buffer.alloc(3), png.subarray(-12)]),
    });
    await reportPhoto(bed.redis, on[0]!, id, { failure: failure('After all, no.') });

    await until(() => bed.core.counters.screenshotsDropped >= dropped + 2);
    expect((await bed.core.checks.screenshot(id))?.png).toEqual(png);
    expect((await bed.read(id)).status).toBe('pending');
  });

  it('comes at once where the store has no room for the screenshot', async () => {
    const on = probes([true]);
    const id = await start(on);
    await report(bed.redis, on[0]!, id, shown('small'));
    await until(async () => Object.values((await bed.read(id)).results).every(isFinal));
    await lastBeat;
    try {
      // In one transaction, so that memory is short when a coordinator reads the entry.
      await bed.redis
        .multi()
        .xadd(redisKeys.results(on[0]!), '*', 'check', id, 'kind', 'screenshot', 'data', '{"failure":null}', 'png', png)
        .config('SET', 'maxmemory', '1')
        .publish(redisKeys.resultNotification(on[0]!), '1')
        .exec();
      await until(async () => (await outcome(id))?.state === 'given_up');
    } finally {
      await bed.takeWrites();
    }

    expect((await bed.read(id, PATIENT_MS)).status).toBe('completed');
    expect(await outcome(id)).toMatchObject({ probe: on[0], reason: { code: 'internal_error' } });
    await until(async () => (await bed.redis.xlen(redisKeys.results(on[0]!))) === 0);
  });

  it('by a probe that was given up on leaves the next one watched', async () => {
    const on = probes([true, true]);
    const id = await start(on);
    const first = await screenshotProbe(id, on);
    // Makes a coordinator read the stream of the first probe, because the first read of a stream takes memory.
    await report(bed.redis, first, id, shown('small'));
    await until(async () => isFinal((await bed.read(id)).results[first]!));
    await goOffline(first);
    const second = await screenshotProbe(id, on, [first]);
    const watched = async (): Promise<readonly string[]> => (await members()).filter((member) => member.startsWith(id));
    await until(async () => (await watched()).join() === `${id} ${second}`);
    const dropped = bed.core.counters.screenshotsDropped;
    await lastBeat;
    try {
      // In one transaction, so that memory is short when a coordinator reads the entry.
      await bed.redis
        .multi()
        .xadd(redisKeys.results(first), '*', 'check', id, 'kind', 'screenshot', 'data', '{"failure":null}', 'png', png)
        .config('SET', 'maxmemory', '1')
        .publish(redisKeys.resultNotification(first), '1')
        .exec();
      await until(() => bed.core.counters.screenshotsDropped > dropped);
    } finally {
      await bed.takeWrites();
    }
    await until(async () => (await bed.redis.xlen(redisKeys.results(first))) === 0);

    expect(await watched()).toEqual([`${id} ${second}`]);
    expect(await outcome(id)).toMatchObject({ state: 'pending', probe: second });
  });

  it('cannot be put into a result by a probe', async () => {
    const on = probes([false]);
    const id = await start(on);

    await report(bed.redis, on[0]!, id, { ...shown('forged'), screenshot: 'iVBORw0KGgo=' });

    expect((await bed.read(id, PATIENT_MS)).results[on[0]!]).toMatchObject({ error: { code: 'invalid_result' } });
  });
});

describe('several coordinators', () => {
  it('ask one more probe when one is lost, not one each', async () => {
    const others = [bed.startCore(), bed.startCore()];
    for (const core of others) await until(() => knowsAll(core));
    const on = probes([true, true, true, true]);
    const id = await start(on);
    const first = await screenshotProbe(id, on);
    await goOffline(first);

    await screenshotProbe(id, on, [first]);

    // Gives the other coordinators, which see the same probes, the opportunity to ask another probe.
    const polled = [...others, bed.core].map((core) => core.knownProbes().catch(() => []));
    await Promise.all(polled);
    await until(async () => !(await members()).some((member) => member === `${id} ${first}`));
    const asked = await bed.redis.hget(redisKeys.check(id), 'shotAsked');
    expect(asked!.split(',')).toHaveLength(2);
    expect((await members()).filter((member) => member.startsWith(id))).toHaveLength(1);
    await Promise.all(others.map((core) => core.close()));
  });

  it('give the next probe its job where one died before it had', async () => {
    const on = probes([true, true]);
    const id = await start(on);
    const first = await screenshotProbe(id, on);
    const second = on.find((probe) => probe !== first)!;
    // Simulates a coordinator that died after the first write of a handover, which names the next probe.
    await bed.redis.hset(redisKeys.check(id), 'shotAsked', `${first},${second}`);

    await reportPhoto(bed.redis, first, id, { failure: failure('Said to the one that died.') });

    expect(await screenshotProbe(id, on, [first])).toBe(second);
    await reportPhoto(bed.redis, second, id, { png });
    await until(async () => (await outcome(id))?.state === 'taken');
  });
});

async function members(): Promise<readonly string[]> {
  return bed.redis.zrangebyscore(redisKeys.screenshots, '-inf', '+inf');
}

function isFinal(result: Readonly<Record<string, unknown>>): boolean {
  return result['result'] !== 'pending';
}

import {
  redisKeys,
  SCREENSHOT_JOB,
  screenshotJobId,
  type Failure,
  type Job,
  type ScreenshotParams,
} from '@vantage/contract';
import type { Tracing } from '@vantage/telemetry';
import type { Redis } from 'ioredis';

import type { KnownProbe } from '../../probes/registry/probe-status.ts';
import type { RedisClock } from '../../redis/clock.ts';
import type { Log } from '../../redis/log.ts';
import { isStoreFault, onStore, replyCode } from '../../redis/store.ts';
import type { AcceptScreenshot } from './validate-screenshot.ts';
import { screenshotMember, watchScreenshot, type NewScreenshot, type WaitingReaders } from '../store/check-records.ts';
import { dispatchFailure } from '../store/synthetic-results.ts';
import type { Counters } from '../store/counters.ts';
import type { Deadlines } from '../store/deadlines.ts';
import { errorName, startJobSpan, withSpan } from '../job-span.ts';
import type { JobQueues } from '../store/job-queues.ts';
import type { PictureRoom } from './screenshot-quota.ts';
import { electProbe } from './select-photographer.ts';
import { giveUpScreenshot, handOverScreenshot, keepScreenshot, readStanding } from './screenshot-records.ts';

export interface ScreenshotsDependencies {
  readonly redis: Redis;
  /** Where jobs are added. */
  readonly queueRedis: Redis;
  readonly queues: JobQueues;
  readonly clock: RedisClock;
  /** The probes, as last read. */
  readonly probes: () => Promise<readonly KnownProbe[]>;
  readonly accept: AcceptScreenshot;
  readonly room: PictureRoom;
  readonly deadlines: Deadlines;
  readonly readers: WaitingReaders;
  readonly tracing: Tracing;
  readonly retentionMs: number;
  readonly counters: Counters;
  readonly log: Log;
  /** Monotonic, milliseconds. */
  readonly nowMs?: () => number;
}

/** The one screenshot of each check: who takes it, who takes over, and how it ends. Settled once, whoever says so. */
export interface Screenshots {
  /** What the record of a new check says of its screenshot. */
  readonly plan: (
    params: ScreenshotParams,
    known: readonly KnownProbe[],
    probes: readonly string[],
  ) => NonNullable<NewScreenshot>;
  /** The probe that is at it cannot take it: another one shall, or it is given up. */
  readonly passOn: (id: string, from: string, reason: Failure, writtenAt?: number) => Promise<void>;
  /**
   * Takes in what a probe wrote.
   *
   * @param writtenAt when, milliseconds since the epoch; 0: in time
   * @throws StoreUnavailable
   */
  readonly takeIn: (probe: string, id: string, written: WrittenScreenshot, writtenAt: number) => Promise<void>;
  /** Passes on what probes are at that went offline, and ends what nobody has ended at its deadline. */
  readonly watch: () => Promise<void>;
  /** Gives it up at the deadline of the check. */
  readonly end: (id: string) => Promise<void>;
}

export interface WrittenScreenshot {
  readonly data: string;
  readonly png: Buffer | undefined;
}

/** With less time than this left nobody else is asked: a browser has to start, and a page to load. */
const LEAST_MS = 3_000;

/** Notes of who is at what are kept for this long after the deadline, should nobody have removed them. */
const NOTES_KEPT_MS = 60_000;

/** The deadline of a check is the sweep's. A coordinator of an older release sweeps, too, and sees no screenshot. */
const LEFT_OVER_AFTER_MS = 1_000;

/** Who could not look for so long knows nothing of the probes: their heartbeats may have expired while Redis was away. */
const BLIND_AFTER_MS = 10_000;
/** By then agents are connected again, two seconds after an outage at most, and have written one. */
const SETTLED_AFTER_MS = 4_000;

const UNCOUNTED = 'a picture could not be counted';

export function screenshotJob(checkId: string, params: ScreenshotParams, deadlineAt: number): Job {
  return { v: 1, checkId, type: SCREENSHOT_JOB, params, deadlineAt };
}

export function createScreenshots(dependencies: ScreenshotsDependencies): Screenshots {
  const { redis, queueRedis, queues, clock, deadlines, readers, retentionMs, counters, log } = dependencies;
  const { tracing, nowMs = () => performance.now() } = dependencies;
  let underWay = new Map<string, number>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let settledAt = Number.NEGATIVE_INFINITY;

  const elect = (known: readonly KnownProbe[], among: readonly string[], except?: readonly string[]) => {
    const probe = electProbe(known, { among, except, underWay: (id) => underWay.get(id) ?? 0 });
    // Until the next look tells what all coordinators have asked for.
    if (probe !== undefined) underWay.set(probe, (underWay.get(probe) ?? 0) + 1);
    return probe;
  };

  const plan: Screenshots['plan'] = (params, known, among) => {
    const probe = elect(known, among);
    if (probe !== undefined) return { state: 'pending', probe, params };
    const reason = dispatchFailure('capability_missing', 'No probe of this check that is online takes screenshots.');
    counters.screenshotsGivenUp += 1;
    return { state: 'given_up', probe: null, reason };
  };

  /** Nobody needs to look at this probe for this check any more. Never rejects: it would end by itself. */
  const forget = async (id: string, probe: string): Promise<void> => {
    await redis.zrem(redisKeys.screenshots, screenshotMember(id, probe)).catch(() => undefined);
  };

  /** Its agent drops it at the deadline in any case. Never rejects. */
  const takeBack = async (id: string, probe: string): Promise<void> => {
    await queues.removeWaiting(redis, probe, screenshotJobId(id)).catch(() => undefined);
  };

  const giveUp = async (
    id: string,
    given: { readonly probe: string; readonly reason: Failure; readonly onlyWhile?: string },
    writtenAt: number,
  ): Promise<void> => {
    const { said, current } = await onStore(redis, () =>
      giveUpScreenshot(redis, id, given, { retentionMs, deadlines, readers, writtenAt }),
    );
    counters[said === 'applied' ? 'screenshotsGivenUp' : 'screenshotsDropped'] += 1;
    await forget(id, current === '' ? given.probe : current);
  };

  const enqueue = async (id: string, probe: string, job: Job): Promise<void> => {
    const span = startJobSpan(tracing, probe, job);
    try {
      await queues.add(probe, withSpan(job, span), screenshotJobId(id));
    } catch (error) {
      span.fail(errorName(error));
      throw error;
    } finally {
      span.end();
    }
  };

  const give = async (id: string, probe: string, params: ScreenshotParams, deadlineAt: number): Promise<void> => {
    await onStore(redis, () => watchScreenshot(redis, id, probe, deadlineAt));
    try {
      const job = screenshotJob(id, params, deadlineAt);
      await onStore(queueRedis, () => enqueue(id, probe, job));
    } catch (error) {
      if (isStoreFault(error)) throw error;
      await passOn(id, probe, dispatchFailure('internal_error', 'The queue of the probe is broken.'));
    }
  };

  /** Not a probe whose own result is there and has no page in it: it would try in vain. */
  const next = async (id: string, among: readonly string[], asked: readonly string[]): Promise<string | undefined> => {
    const known = await dependencies.probes();
    const except = [...asked];
    for (;;) {
      const probe = elect(known, among, except);
      if (probe === undefined) return undefined;
      const result = await onStore(redis, () => redis.hget(redisKeys.checkResults(id), probe));
      if (typeof result !== 'string' || result === '' || hasPage(result)) return probe;
      // Another look may have counted anew meanwhile.
      underWay.set(probe, Math.max(0, (underWay.get(probe) ?? 0) - 1));
      except.push(probe);
    }
  };

  const passOn: Screenshots['passOn'] = async (id, from, reason, writtenAt = 0) => {
    const standing = await onStore(redis, () => readStanding(redis, id));
    if (standing?.screenshot.state !== 'pending' || !standing.asked.includes(from)) {
      counters.screenshotsDropped += 1;
      return forget(id, from);
    }
    const { deadlineAt, asked, probes } = standing;
    const at = asked.indexOf(from);
    if (at < asked.length - 1) {
      counters.screenshotsDropped += 1;
      // Whoever passed it on may have died before the next one had its job: it gets it (again), which is harmless.
      if (at === asked.length - 2) await give(id, asked[at + 1]!, standing.params, deadlineAt);
      return forget(id, from);
    }
    const hasTime = deadlineAt - (await onStore(redis, () => clock.now(redis))) >= LEAST_MS;
    const to = hasTime ? await next(id, probes, asked) : undefined;
    if (to === undefined) return giveUp(id, { probe: from, reason, onlyWhile: from }, writtenAt);
    const { said, params } = await onStore(redis, () => handOverScreenshot(redis, id, { from, to, reason, writtenAt }));
    if (params === undefined) {
      counters.screenshotsDropped += 1;
      log.debug({ check: id, from, said }, 'a screenshot was not handed over');
      return;
    }
    counters.screenshotsHandedOver += 1;
    await give(id, to, params, deadlineAt);
    await Promise.all([forget(id, from), takeBack(id, from)]);
  };

  const takeIn: Screenshots['takeIn'] = async (probe, id, written, writtenAt) => {
    const { png, cutAt, failure, valid } = dependencies.accept(written.data, written.png);
    if (!valid) counters.screenshotsInvalid += 1;
    if (failure !== undefined) return passOn(id, probe, failure, writtenAt);
    const kept = await onStore(redis, () =>
      keepScreenshot(redis, id, { probe, png, cutAt }, { retentionMs, deadlines, readers, writtenAt }).catch(
        (error: unknown) => {
          if (replyCode(error) !== 'OOM') throw error;
          return undefined;
        },
      ),
    );
    // Nor is there room for it in the stream, where it would wait.
    if (kept === undefined) return giveUp(id, { probe, reason: noRoom, onlyWhile: probe }, writtenAt);
    const { said, current } = kept;
    counters[said === 'applied' ? 'screenshotsTaken' : 'screenshotsDropped'] += 1;
    if (said !== 'applied') return;
    // Lost, it is a picture more than there is room for, until it expires.
    await dependencies.room.note(id, probe, png.length).catch((error: unknown) => log.warn({ error }, UNCOUNTED));
    await forget(id, current);
    if (current !== probe) await takeBack(id, current);
  };

  const end = async (id: string): Promise<void> => {
    const standing = await onStore(redis, () => readStanding(redis, id));
    const probe = standing?.screenshot.state === 'pending' ? standing.screenshot.probe : null;
    if (standing === undefined || probe === null) return;
    await takeBack(id, probe);
    await giveUp(id, { probe, reason: standing.reason ?? tooLate }, 0);
  };

  const watch = async (): Promise<void> => {
    const known = await dependencies.probes();
    const { now, notes } = await onStore(redis, async () => {
      const redisNow = await clock.now(redis);
      const [, flat] = await Promise.all([
        redis.zremrangebyscore(redisKeys.screenshots, '-inf', String(redisNow - NOTES_KEPT_MS)),
        redis.zrangebyscore(redisKeys.screenshots, '-inf', '+inf', 'WITHSCORES'),
      ]);
      return { now: redisNow, notes: readNotes(flat) };
    });
    underWay = new Map();
    for (const { probe } of notes) underWay.set(probe, (underWay.get(probe) ?? 0) + 1);
    if (nowMs() - lookedAt > BLIND_AFTER_MS) settledAt = nowMs() + SETTLED_AFTER_MS;
    lookedAt = nowMs();
    if (lookedAt < settledAt) return;
    const alive = new Set(known.filter((probe) => probe.alive).map(({ record }) => record.id));
    await Promise.all(
      notes.map(async ({ id, probe, deadlineAt }) => {
        if (deadlineAt < now - LEFT_OVER_AFTER_MS) await end(id).then(() => forget(id, probe));
        else if (!alive.has(probe)) await passOn(id, probe, wentOffline);
      }),
    );
  };

  return { plan, passOn, takeIn, watch, end };
}

interface WatchNote {
  readonly id: string;
  readonly probe: string;
  readonly deadlineAt: number;
}

/** @param flat note, deadline, note … */
function readNotes(flat: readonly string[]): readonly WatchNote[] {
  return flat.flatMap((text, index) => {
    if (index % 2 === 1) return [];
    const [id = '', probe = ''] = text.split(' ', 2);
    return [{ id, probe, deadlineAt: Number(flat[index + 1]) }];
  });
}

/** A result of whatever status, and no failure before one. */
function hasPage(json: string): boolean {
  return (JSON.parse(json) as { readonly statusCode?: unknown }).statusCode !== undefined;
}

const wentOffline: Failure = {
  ...dispatchFailure('probe_interrupted', 'The probe went offline while it was to take the screenshot.'),
  phase: 'exec',
};

const noRoom = dispatchFailure('internal_error', 'The store has no room for the screenshot now.');

const tooLate = dispatchFailure(
  'probe_timeout',
  'The probe did not come up with the screenshot before the deadline of the check.',
);

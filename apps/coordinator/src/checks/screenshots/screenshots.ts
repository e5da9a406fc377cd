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
import { fromStored } from '../store/stored-json.ts';
import { dispatchFailure } from '../store/synthetic-results.ts';
import type { Counters } from '../store/counters.ts';
import type { Deadlines } from '../store/deadlines.ts';
import { errorName, startJobSpan, withSpan } from '../job-span.ts';
import type { JobQueues } from '../store/job-queues.ts';
import type { ScreenshotQuota } from './screenshot-quota.ts';
import { selectScreenshotProbe } from './select-photographer.ts';
import { giveUpScreenshot, handOverScreenshot, keepScreenshot, readStanding } from './screenshot-records.ts';

export interface ScreenshotsDependencies {
  readonly redis: Redis;
  /** Connection that adds jobs. */
  readonly queueRedis: Redis;
  readonly queues: JobQueues;
  readonly clock: RedisClock;
  /** The probes, as of a refresh at most 1.5 s ago. */
  readonly probes: () => Promise<readonly KnownProbe[]>;
  readonly accept: AcceptScreenshot;
  readonly quota: ScreenshotQuota;
  readonly deadlines: Deadlines;
  readonly readers: WaitingReaders;
  readonly tracing: Tracing;
  readonly retentionMs: number;
  readonly counters: Counters;
  readonly log: Log;
  /** Monotonic clock, milliseconds. */
  readonly nowMs?: () => number;
}

/**
 * The one screenshot of each check: which probe takes it, which one takes over, and how it ends. Settled at most once.
 */
export interface CheckScreenshots {
  /** Selects the probe that takes the screenshot of a new check; if no probe can, the screenshot is given up. */
  readonly plan: (
    params: ScreenshotParams,
    known: readonly KnownProbe[],
    probes: readonly string[],
  ) => NonNullable<NewScreenshot>;
  /** Hands the screenshot of a probe that cannot take it to another one, or gives it up. */
  readonly passOn: (id: string, from: string, reason: Failure, writtenAt?: number) => Promise<void>;
  /**
   * Processes an entry of a probe about a screenshot.
   *
   * @param writtenAt time of the entry, milliseconds since the epoch; 0 means in time
   * @throws StoreUnavailable
   */
  readonly takeIn: (probe: string, id: string, written: WrittenScreenshot, writtenAt: number) => Promise<void>;
  /** Hands over the screenshots of probes that went offline, and gives up those whose deadline has passed. */
  readonly watch: () => Promise<void>;
  /** Gives the screenshot up at the deadline of the check. */
  readonly end: (id: string) => Promise<void>;
}

export interface WrittenScreenshot {
  readonly data: string;
  readonly png: Buffer | undefined;
}

/** With less time than this left, no other probe is asked: a browser has to start and a page to load. */
const LEAST_MS = 3_000;

/** Watch entries that were not removed are kept for this long after the deadline. */
const NOTES_KEPT_MS = 60_000;

/** Delay after the deadline before the watch ends a screenshot that expiry has not ended. */
const LEFT_OVER_AFTER_MS = 1_000;

/**
 * After a gap this long between two polls, heartbeats may have expired while Redis was unavailable: for
 * `SETTLED_AFTER_MS` the watch then neither hands over nor ends a screenshot.
 */
const BLIND_AFTER_MS = 10_000;
/** Time after an outage in which agents reconnect and send a heartbeat. */
const SETTLED_AFTER_MS = 4_000;

const UNCOUNTED = 'a screenshot could not be counted';

export function screenshotJob(checkId: string, params: ScreenshotParams, deadlineAt: number): Job {
  return { v: 1, checkId, type: SCREENSHOT_JOB, params, deadlineAt };
}

export function createCheckScreenshots(dependencies: ScreenshotsDependencies): CheckScreenshots {
  return new PassedOnScreenshots(dependencies);
}

/** One probe at a time takes the screenshot; it is handed over until one succeeds, or no probe or no time is left. */
class PassedOnScreenshots implements CheckScreenshots {
  private readonly dependencies: ScreenshotsDependencies;
  private readonly nowMs: () => number;
  /** Screenshots pending at each probe as of the last poll, plus those that this coordinator requested since. */
  private underWay = new Map<string, number>();
  private lookedAt = Number.NEGATIVE_INFINITY;
  private settledAt = Number.NEGATIVE_INFINITY;

  constructor(dependencies: ScreenshotsDependencies) {
    this.dependencies = dependencies;
    this.nowMs = dependencies.nowMs ?? (() => performance.now());
  }

  readonly plan: CheckScreenshots['plan'] = (params, known, among) => {
    const probe = this.elect(known, among);
    if (probe !== undefined) return { state: 'pending', probe, params };
    const reason = dispatchFailure('capability_missing', 'No probe of this check that is online takes screenshots.');
    this.dependencies.counters.screenshotsGivenUp += 1;
    return { state: 'given_up', probe: null, reason };
  };

  private readonly elect = (known: readonly KnownProbe[], among: readonly string[], except?: readonly string[]) => {
    const probe = selectScreenshotProbe(known, { among, except, underWay: (id) => this.underWay.get(id) ?? 0 });
    // An estimate: the next poll counts the requests of all coordinators.
    if (probe !== undefined) this.underWay.set(probe, (this.underWay.get(probe) ?? 0) + 1);
    return probe;
  };

  /** Stops watching this probe for this check. Never rejects: `watch` removes an entry that is left. */
  private readonly forget = async (id: string, probe: string): Promise<void> => {
    const { redis } = this.dependencies;
    await redis.zrem(redisKeys.screenshots, screenshotMember(id, probe)).catch(() => undefined);
  };

  /** Removes the job if it is still waiting. Never rejects. */
  private readonly takeBack = async (id: string, probe: string): Promise<void> => {
    const { redis, queues } = this.dependencies;
    await queues.removeWaiting(redis, [probe], screenshotJobId(id));
  };

  private readonly giveUp = async (
    id: string,
    given: { readonly probe: string; readonly reason: Failure; readonly onlyWhile?: string },
    writtenAt: number,
  ): Promise<void> => {
    const { redis, deadlines, readers, retentionMs, counters } = this.dependencies;
    const { said, current } = await onStore(redis, () =>
      giveUpScreenshot(redis, id, given, { retentionMs, deadlines, readers, writtenAt }),
    );
    counters[said === 'applied' ? 'screenshotsGivenUp' : 'screenshotsDropped'] += 1;
    // If another probe is taking the screenshot by now, that one stays watched.
    await this.forget(id, given.onlyWhile ?? (current === '' ? given.probe : current));
  };

  private readonly enqueue = async (id: string, probe: string, job: Job): Promise<void> => {
    const { queues, tracing } = this.dependencies;
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

  private readonly give = async (
    id: string,
    probe: string,
    params: ScreenshotParams,
    deadlineAt: number,
  ): Promise<void> => {
    const { redis, queueRedis } = this.dependencies;
    await onStore(redis, () => watchScreenshot(redis, id, probe, deadlineAt));
    try {
      const job = screenshotJob(id, params, deadlineAt);
      await onStore(queueRedis, () => this.enqueue(id, probe, job));
    } catch (error) {
      if (isStoreFault(error)) throw error;
      await this.passOn(id, probe, dispatchFailure('internal_error', 'The queue of the probe is broken.'));
    }
  };

  /** Selects the next probe. Skips probes whose own result is final and without a page: they would fail again. */
  private readonly next = async (
    id: string,
    among: readonly string[],
    asked: readonly string[],
  ): Promise<string | undefined> => {
    const { redis } = this.dependencies;
    const known = await this.dependencies.probes();
    const except = [...asked];
    for (;;) {
      const probe = this.elect(known, among, except);
      if (probe === undefined) return undefined;
      const result = await onStore(redis, () => redis.hget(redisKeys.checkResults(id), probe));
      if (typeof result !== 'string' || result === '' || hasPage(fromStored(result))) return probe;
      // A concurrent poll may have reset the count.
      this.underWay.set(probe, Math.max(0, (this.underWay.get(probe) ?? 0) - 1));
      except.push(probe);
    }
  };

  readonly passOn: CheckScreenshots['passOn'] = async (id, from, reason, writtenAt = 0) => {
    const { redis, clock, counters, log } = this.dependencies;
    const standing = await onStore(redis, () => readStanding(redis, id));
    if (standing?.screenshot.state !== 'pending' || !standing.asked.includes(from)) {
      counters.screenshotsDropped += 1;
      return this.forget(id, from);
    }
    const { deadlineAt, asked, probes } = standing;
    const at = asked.indexOf(from);
    if (at < asked.length - 1) {
      counters.screenshotsDropped += 1;
      // The coordinator that handed the screenshot over may have died before adding the job, which is harmless to add
      // again.
      if (at === asked.length - 2) await this.give(id, asked[at + 1]!, standing.params, deadlineAt);
      return this.forget(id, from);
    }
    const hasTime = deadlineAt - (await onStore(redis, () => clock.now(redis))) >= LEAST_MS;
    const to = hasTime ? await this.next(id, probes, asked) : undefined;
    if (to === undefined) {
      await this.giveUp(id, { probe: from, reason, onlyWhile: from }, writtenAt);
      return this.takeBack(id, from);
    }
    const { said, params } = await onStore(redis, () => handOverScreenshot(redis, id, { from, to, reason, writtenAt }));
    if (params === undefined) {
      counters.screenshotsDropped += 1;
      log.debug({ check: id, from, said }, 'a screenshot was not handed over');
      return;
    }
    counters.screenshotsHandedOver += 1;
    await this.give(id, to, params, deadlineAt);
    await Promise.all([this.forget(id, from), this.takeBack(id, from)]);
  };

  readonly takeIn: CheckScreenshots['takeIn'] = async (probe, id, written, writtenAt) => {
    const { redis, deadlines, readers, retentionMs, counters, log } = this.dependencies;
    const { png, cutAt, failure, valid } = this.dependencies.accept(written.data, written.png);
    if (!valid) counters.screenshotsInvalid += 1;
    if (failure !== undefined) return this.passOn(id, probe, failure, writtenAt);
    const kept = await onStore(redis, () =>
      keepScreenshot(redis, id, { probe, png, cutAt }, { retentionMs, deadlines, readers, writtenAt }).catch(
        (error: unknown) => {
          if (replyCode(error) !== 'OOM') throw error;
          return undefined;
        },
      ),
    );
    // Redis is out of memory, some of which this entry of the stream takes: the screenshot is given up, not tried
    // again.
    if (kept === undefined) return this.giveUp(id, { probe, reason: noRoom, onlyWhile: probe }, writtenAt);
    const { said, current } = kept;
    counters[said === 'applied' ? 'screenshotsTaken' : 'screenshotsDropped'] += 1;
    if (said !== 'applied') return;
    // If this fails, the screenshot is not counted, and the total may exceed the limit until the screenshot expires.
    await this.dependencies.quota.note(id, probe, png.length).catch((error: unknown) => log.warn({ error }, UNCOUNTED));
    await this.forget(id, current);
    if (current !== probe) await this.takeBack(id, current);
  };

  readonly end: CheckScreenshots['end'] = async (id: string): Promise<void> => {
    const { redis } = this.dependencies;
    const standing = await onStore(redis, () => readStanding(redis, id));
    const probe = standing?.screenshot.state === 'pending' ? standing.screenshot.probe : null;
    if (standing === undefined || probe === null) return;
    await this.takeBack(id, probe);
    await this.giveUp(id, { probe, reason: standing.reason ?? tooLate }, 0);
  };

  readonly watch: CheckScreenshots['watch'] = async (): Promise<void> => {
    const { redis, clock } = this.dependencies;
    const known = await this.dependencies.probes();
    const { now, notes } = await onStore(redis, async () => {
      const redisNow = await clock.now(redis);
      const [, flat] = await Promise.all([
        redis.zremrangebyscore(redisKeys.screenshots, '-inf', String(redisNow - NOTES_KEPT_MS)),
        redis.zrangebyscore(redisKeys.screenshots, '-inf', '+inf', 'WITHSCORES'),
      ]);
      return { now: redisNow, notes: readNotes(flat) };
    });
    this.underWay = new Map();
    for (const { probe } of notes) this.underWay.set(probe, (this.underWay.get(probe) ?? 0) + 1);
    if (this.nowMs() - this.lookedAt > BLIND_AFTER_MS) this.settledAt = this.nowMs() + SETTLED_AFTER_MS;
    this.lookedAt = this.nowMs();
    if (this.lookedAt < this.settledAt) return;
    if (notes.length === 0) return;
    const alive = new Set(known.filter((probe) => probe.alive).map(({ record }) => record.id));
    await Promise.all(
      notes.map(async ({ id, probe, deadlineAt }) => {
        if (deadlineAt < now - LEFT_OVER_AFTER_MS) await this.end(id).then(() => this.forget(id, probe));
        else if (!alive.has(probe)) await this.passOn(id, probe, wentOffline);
      }),
    );
  };
}

interface WatchNote {
  readonly id: string;
  readonly probe: string;
  readonly deadlineAt: number;
}

/** @param flat member, deadline, member … */
function readNotes(flat: readonly string[]): readonly WatchNote[] {
  return flat.flatMap((text, index) => {
    if (index % 2 === 1) return [];
    const [id = '', probe = ''] = text.split(' ', 2);
    return [{ id, probe, deadlineAt: Number(flat[index + 1]) }];
  });
}

/** True for a result with any HTTP status; false if it failed before one. */
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

import type { Failure, ScreenshotParams } from '@vantage/contract';

import type { KnownProbe } from '../../probes/registry/probe-status.ts';
import type { RedisClock } from '../../redis/clock.ts';
import type { Log } from '../../redis/log.ts';
import { onStore, replyCode } from '../../redis/store.ts';
import type { NewScreenshot } from '../store/records/new-check.ts';
import type { WaitingReaders } from '../store/records/write-results.ts';
import type { Counters } from '../store/counters.ts';
import type { Deadlines } from '../store/deadlines.ts';
import { dispatchFailure } from '../store/synthetic-results.ts';
import {
  giveScreenshotJob,
  screenshotJob,
  takeBackScreenshotJob,
  type ScreenshotJobsDependencies,
} from './screenshot-jobs.ts';
import { ScreenshotProbes } from './screenshot-probes.ts';
import type { ScreenshotQuota } from './screenshot-quota.ts';
import { giveUpScreenshot, handOverScreenshot, keepScreenshot, readStanding } from './screenshot-records.ts';
import { createScreenshotWatch, stopWatching } from './screenshot-watch.ts';
import type { AcceptScreenshot } from './validate-screenshot.ts';

export interface ScreenshotsDependencies extends ScreenshotJobsDependencies {
  readonly clock: RedisClock;
  /** The probes, as of a refresh at most 1.5 s ago. */
  readonly probes: () => Promise<readonly KnownProbe[]>;
  readonly accept: AcceptScreenshot;
  readonly quota: ScreenshotQuota;
  readonly deadlines: Deadlines;
  readonly readers: WaitingReaders;
  readonly retentionMs: number;
  readonly counters: Counters;
  readonly log: Log;
  /** Monotonic clock, milliseconds. */
  readonly nowMs?: () => number;
}

/**
 * The one screenshot of each check: which probe takes it, which one takes over, and how it ends, which is final.
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

/** Each probe that opens the page may make its target send as much as a screenshot may. */
const MOST_PROBES = 2;

const UNCOUNTED = 'a screenshot could not be counted';

export function createCheckScreenshots(dependencies: ScreenshotsDependencies): CheckScreenshots {
  return new PassedOnScreenshots(dependencies);
}

/** Hands the job on after a failure, to at most `MOST_PROBES` probes in all, while at least `LEAST_MS` are left. */
class PassedOnScreenshots implements CheckScreenshots {
  private readonly dependencies: ScreenshotsDependencies;
  private readonly probes: ScreenshotProbes;
  readonly watch: CheckScreenshots['watch'];

  constructor(dependencies: ScreenshotsDependencies) {
    this.dependencies = dependencies;
    const { redis, clock, probes: known, nowMs = () => performance.now() } = dependencies;
    this.probes = new ScreenshotProbes(redis, known);
    const { probes, passOn, end } = this;
    this.watch = createScreenshotWatch({ redis, clock, known, probes, passOn, end, nowMs });
  }

  readonly plan: CheckScreenshots['plan'] = (params, known, among) => {
    const probe = this.probes.select(known, among);
    if (probe !== undefined) return { state: 'pending', probe, params };
    const reason = dispatchFailure('capability_missing', 'No probe with a job of this check takes screenshots.');
    this.dependencies.counters.screenshotsGivenUp += 1;
    return { state: 'given_up', probe: null, reason };
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
    await stopWatching(redis, id, given.onlyWhile ?? (current === '' ? given.probe : current));
  };

  private readonly give = async (
    id: string,
    probe: string,
    params: ScreenshotParams,
    deadlineAt: number,
  ): Promise<void> => {
    if (await giveScreenshotJob(this.dependencies, probe, screenshotJob(id, params, deadlineAt))) return;
    await this.passOn(id, probe, dispatchFailure('internal_error', 'The queue of the probe is broken.'));
  };

  readonly passOn: CheckScreenshots['passOn'] = async (id, from, reason, writtenAt = 0) => {
    const { redis, clock, counters, log } = this.dependencies;
    const standing = await onStore(redis, () => readStanding(redis, id));
    if (standing?.screenshot.state !== 'pending' || !standing.asked.includes(from)) {
      counters.screenshotsDropped += 1;
      return stopWatching(redis, id, from);
    }
    const { deadlineAt, asked, probes } = standing;
    const at = asked.indexOf(from);
    if (at < asked.length - 1) {
      counters.screenshotsDropped += 1;
      // The coordinator that handed the screenshot over may have died before adding the job, which is harmless to add
      // again.
      if (at === asked.length - 2) await this.give(id, asked[at + 1]!, standing.params, deadlineAt);
      return stopWatching(redis, id, from);
    }
    const hasTime = deadlineAt - (await onStore(redis, () => clock.now(redis))) >= LEAST_MS;
    const to = hasTime && asked.length < MOST_PROBES ? await this.probes.next(id, probes, asked) : undefined;
    if (to === undefined) {
      await this.giveUp(id, { probe: from, reason, onlyWhile: from }, writtenAt);
      return takeBackScreenshotJob(this.dependencies, id, from);
    }
    const { said, params } = await onStore(redis, () => handOverScreenshot(redis, id, { from, to, reason, writtenAt }));
    if (params === undefined) {
      counters.screenshotsDropped += 1;
      log.debug({ check: id, from, said }, 'a screenshot was not handed over');
      return;
    }
    counters.screenshotsHandedOver += 1;
    await this.give(id, to, params, deadlineAt);
    await Promise.all([stopWatching(redis, id, from), takeBackScreenshotJob(this.dependencies, id, from)]);
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
    // Redis is out of memory. The screenshot is given up, not tried again: its stream entry takes memory, too.
    if (kept === undefined) return this.giveUp(id, { probe, reason: noRoom, onlyWhile: probe }, writtenAt);
    const { said, current } = kept;
    counters[said === 'applied' ? 'screenshotsTaken' : 'screenshotsDropped'] += 1;
    if (said !== 'applied') return;
    // If this fails, the screenshot is not counted, and the total may exceed the limit until the screenshot expires.
    await this.dependencies.quota.note(id, probe, png.length).catch((error: unknown) => log.warn({ error }, UNCOUNTED));
    await stopWatching(redis, id, current);
    if (current !== probe) await takeBackScreenshotJob(this.dependencies, id, current);
  };

  readonly end: CheckScreenshots['end'] = async (id: string): Promise<void> => {
    const { redis } = this.dependencies;
    const standing = await onStore(redis, () => readStanding(redis, id));
    const probe = standing?.screenshot.state === 'pending' ? standing.screenshot.probe : null;
    if (standing === undefined || probe === null) return;
    await takeBackScreenshotJob(this.dependencies, id, probe);
    await this.giveUp(id, { probe, reason: standing.reason ?? tooLate }, 0);
  };
}

const noRoom = dispatchFailure('internal_error', 'The store has no room for the screenshot now.');

const tooLate = dispatchFailure(
  'probe_timeout',
  'The probe did not come up with the screenshot before the deadline of the check.',
);

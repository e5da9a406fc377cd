import {
  redisKeys,
  type Failure,
  type Screenshot,
  type ScreenshotLimit,
  type ScreenshotParams,
} from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../redis/scripts.ts';
import { checkKeys, screenshotOf } from '../store/records/check-records.ts';
import { tellCompletion, type CommitOptions, type CommitReply } from '../store/records/write-results.ts';
import type { CommitOutcome } from '../store/records/write-results.ts';
import { giveUpScreenshotScript, handOverScreenshotScript, keepScreenshotScript } from './screenshot-scripts.ts';

/** Outcome of a screenshot update, and the probe that was taking it ('' if none was asked). */
export interface ScreenshotUpdate {
  readonly said: CommitOutcome;
  readonly current: string;
}

export interface TakenScreenshot {
  readonly probe: string;
  readonly png: Buffer;
  readonly cutAt: ScreenshotLimit[] | undefined;
}

/** Stores the first screenshot that arrives from any probe that was asked. */
export async function keepScreenshot(
  redis: Redis,
  id: string,
  { probe, png, cutAt }: TakenScreenshot,
  options: CommitOptions,
): Promise<ScreenshotUpdate> {
  const taken: Screenshot = { state: 'taken', probe, reason: null, ...(cutAt && { cutAt }) };
  const keys = [...checkKeys(id), redisKeys.checkScreenshot(id, probe)];
  const values = [...startOf(id, options), probe, png, JSON.stringify(taken)];
  return updateOf(id, await runScript(redis, keepScreenshotScript, keys, values), options);
}

/** Records that a check has no screenshot; with `onlyWhile`, only if that probe is still taking it. */
export async function giveUpScreenshot(
  redis: Redis,
  id: string,
  { probe, reason, onlyWhile = '' }: { readonly probe: string; readonly reason: Failure; readonly onlyWhile?: string },
  options: CommitOptions,
): Promise<ScreenshotUpdate> {
  const givenUp: Screenshot = { state: 'given_up', probe, reason };
  const values = [...startOf(id, options), onlyWhile, JSON.stringify(givenUp)];
  return updateOf(id, await runScript(redis, giveUpScreenshotScript, checkKeys(id), values), options);
}

/**
 * Asks another probe for the screenshot.
 *
 * @param from the probe that must still be taking it
 * @returns `params`, those of the screenshot, only if `said` is `applied`
 */
export async function handOverScreenshot(
  redis: Redis,
  id: string,
  { from, to, reason, writtenAt }: HandOver,
): Promise<{ readonly said: CommitOutcome; readonly params?: ScreenshotParams }> {
  const values = [writtenAt, from, to, JSON.stringify(reason)];
  const [said, params] = (await runScript(redis, handOverScreenshotScript, [redisKeys.check(id)], values)) as [
    CommitOutcome,
    string,
  ];
  return said === 'applied' ? { said, params: JSON.parse(params) as ScreenshotParams } : { said };
}

export interface HandOver {
  readonly from: string;
  readonly to: string;
  readonly reason: Failure;
  /** When the failure was written, milliseconds since the epoch; 0 means in time. */
  readonly writtenAt: number;
}

/** State of a check's screenshot. */
export interface ScreenshotStanding {
  readonly screenshot: Screenshot;
  /** Probes of the check. */
  readonly probes: readonly string[];
  /** Probes that were asked, in order. */
  readonly asked: readonly string[];
  /** Failure of the previous probe; like `params`, only while the screenshot is pending. */
  readonly reason: Failure | null;
  readonly params: ScreenshotParams;
  readonly deadlineAt: number;
}

/** @returns undefined if there is no such check */
export async function readStanding(redis: Redis, id: string): Promise<ScreenshotStanding | undefined> {
  const names = ['deadlineAt', 'probes', 'shot', 'shotAsked', 'shotReason', 'shotParams'] as const;
  const [deadlineAt, probes, shot, asked, reason, params] = await redis.hmget(redisKeys.check(id), ...names);
  if (typeof deadlineAt !== 'string') return undefined;
  return {
    screenshot: screenshotOf(shot ?? undefined, asked ?? undefined),
    probes: (probes ?? '').split(','),
    asked: (asked ?? '').split(',').filter((probe) => probe !== ''),
    reason: typeof reason === 'string' ? (JSON.parse(reason) as Failure) : null,
    params: JSON.parse(typeof params === 'string' ? params : '{}') as ScreenshotParams,
    deadlineAt: Number(deadlineAt),
  };
}

/** Reads the image; undefined if there is none. */
export async function readScreenshotImage(
  redis: Redis,
  id: string,
  { state, probe }: Screenshot,
): Promise<Buffer | undefined> {
  if (state !== 'taken' || probe === null) return undefined;
  return (await redis.getBuffer(redisKeys.checkScreenshot(id, probe))) ?? undefined;
}

function startOf(id: string, { retentionMs, readers, writtenAt = 0 }: CommitOptions): readonly number[] {
  return [retentionMs, writtenAt, readers?.wait(id) === true ? 1 : 0];
}

function updateOf(id: string, reply: unknown, options: CommitOptions): ScreenshotUpdate {
  const [said = 'unknown', current = ''] = tellCompletion(id, reply as CommitReply, options);
  return { said: said as CommitOutcome, current };
}

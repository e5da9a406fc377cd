import {
  redisKeys,
  type Failure,
  type Screenshot,
  type ScreenshotLimit,
  type ScreenshotParams,
} from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../redis/scripts.ts';
import { familyOf, screenshotOf } from '../store/records/check-records.ts';
import { tellCompletion, type SettleOptions, type SettleReply } from '../store/records/write-results.ts';
import type { Settlement } from '../store/records/write-results.ts';
import { giveUpScreenshotScript, handOverScreenshotScript, keepScreenshotScript } from './screenshot-scripts.ts';

/** Outcome of a screenshot update, and the probe that was taking it ('' if none was asked). */
export interface ScreenshotSettlement {
  readonly said: Settlement;
  readonly current: string;
}

export interface TakenPicture {
  readonly probe: string;
  readonly png: Buffer;
  readonly cutAt: ScreenshotLimit[] | undefined;
}

/** Stores the first screenshot that arrives from any probe that was asked. */
export async function keepScreenshot(
  redis: Redis,
  id: string,
  { probe, png, cutAt }: TakenPicture,
  options: SettleOptions,
): Promise<ScreenshotSettlement> {
  const taken: Screenshot = { state: 'taken', probe, reason: null, ...(cutAt && { cutAt }) };
  const keys = [...familyOf(id), redisKeys.checkScreenshot(id, probe)];
  const values = [...startOf(id, options), probe, png, JSON.stringify(taken)];
  return settlement(id, await runScript(redis, keepScreenshotScript, keys, values), options);
}

/** Settles that a check has no screenshot; with `onlyWhile`, only if that probe is still taking it. */
export async function giveUpScreenshot(
  redis: Redis,
  id: string,
  { probe, reason, onlyWhile = '' }: { readonly probe: string; readonly reason: Failure; readonly onlyWhile?: string },
  options: SettleOptions,
): Promise<ScreenshotSettlement> {
  const givenUp: Screenshot = { state: 'given_up', probe, reason };
  const values = [...startOf(id, options), onlyWhile, JSON.stringify(givenUp)];
  return settlement(id, await runScript(redis, giveUpScreenshotScript, familyOf(id), values), options);
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
): Promise<{ readonly said: Settlement; readonly params?: ScreenshotParams }> {
  const values = [writtenAt, from, to, JSON.stringify(reason)];
  const [said, params] = (await runScript(redis, handOverScreenshotScript, [redisKeys.check(id)], values)) as [
    Settlement,
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
export async function readPicture(redis: Redis, id: string, { state, probe }: Screenshot): Promise<Buffer | undefined> {
  if (state !== 'taken' || probe === null) return undefined;
  return (await redis.getBuffer(redisKeys.checkScreenshot(id, probe))) ?? undefined;
}

function startOf(id: string, { retentionMs, readers, writtenAt = 0 }: SettleOptions): readonly number[] {
  return [retentionMs, writtenAt, readers?.wait(id) === true ? 1 : 0];
}

function settlement(id: string, reply: unknown, options: SettleOptions): ScreenshotSettlement {
  const [said = 'unknown', current = ''] = tellCompletion(id, reply as SettleReply, options);
  return { said: said as Settlement, current };
}

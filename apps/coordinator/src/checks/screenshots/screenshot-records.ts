import {
  redisKeys,
  type Failure,
  type Screenshot,
  type ScreenshotLimit,
  type ScreenshotParams,
} from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../redis/scripts.ts';
import {
  familyOf,
  screenshotOf,
  tellCompletion,
  type SettleOptions,
  type SettleReply,
} from '../store/check-records.ts';
import type { Settlement } from '../store/check-records.ts';
import { giveUpScreenshotScript, handOverScreenshotScript, keepScreenshotScript } from './screenshot-scripts.ts';

/** What a word about a screenshot came to, and the probe that was at it ('' where none was asked). */
export interface ScreenshotSettlement {
  readonly said: Settlement;
  readonly current: string;
}

export interface TakenPicture {
  readonly probe: string;
  readonly png: Buffer;
  readonly cutAt: ScreenshotLimit[] | undefined;
}

/** Keeps the picture of a check, the first that comes of a probe that was asked. */
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

/** Settles that a check has no picture; with `onlyWhile`, where this probe is still at it. */
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
 * Asks another probe for the picture.
 *
 * @param from the probe that has to be at it
 * @returns what it is to show; only with `applied`
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
  /** When the failure was written, milliseconds since the epoch; 0: in time. */
  readonly writtenAt: number;
}

/** How the screenshot of a check stands. */
export interface ScreenshotStanding {
  readonly screenshot: Screenshot;
  /** The probes of the check. */
  readonly probes: readonly string[];
  /** Those that were asked for the picture. */
  readonly asked: readonly string[];
  /** Why the one before failed; only while it is pending, as are the params. */
  readonly reason: Failure | null;
  readonly params: ScreenshotParams;
  readonly deadlineAt: number;
}

/** Undefined where there is no such check. */
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

/** The picture of a check as it is, or undefined where there is none. */
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

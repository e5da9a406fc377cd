import { redisKeys, type Screenshot, type ScreenshotParams } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../../redis/scripts.ts';
import type { Absent, CheckRecord } from './check-records.ts';
import { createScript } from './check-scripts.ts';

export interface NewCheck extends Pick<
  CheckRecord,
  'type' | 'host' | 'between' | 'emptyLocations' | 'request' | 'createdAt' | 'deadlineAt' | 'probes'
> {
  readonly id: string;
  /** Digest of the client to whose budget the results count; `monitors` for all monitors. */
  readonly client?: string | undefined;
  /** Digest of client and `Idempotency-Key`, which names the idempotency record. */
  readonly first?: string | undefined;
  /** Key that must be in Redis for the check to be created; undefined if the check is admitted already. */
  readonly grant?: string | undefined;
  /** True to create it only if there is no check with this id. */
  readonly once?: boolean | undefined;
  /** Probes whose agents may be connected to gateways, which are notified of the jobs. Default: all probes. */
  readonly atGateways?: readonly string[] | undefined;
  /** Probes that get no job, with the reason. Their results are written after the start. */
  readonly absent?: Absent | undefined;
  /** Undefined if no screenshot is requested; `given_up` if no probe can take one. */
  readonly screenshot?: NewScreenshot | undefined;
}

export type NewScreenshot =
  | { readonly state: 'pending'; readonly probe: string; readonly params: ScreenshotParams }
  | (Screenshot & { readonly state: 'given_up' });

/**
 * Writes the deadline, the record with all results pending, and the watch entry of a pending screenshot.
 *
 * @throws after all replies, if a write is refused; the other writes may have taken effect
 */
export async function writeCheck(redis: Redis, check: NewCheck, retentionMs: number): Promise<void> {
  const { id, createdAt, deadlineAt, probes, screenshot } = check;
  const written = await Promise.allSettled([
    redis.zadd(redisKeys.deadlines, deadlineAt, id),
    runScript(
      redis,
      createScript,
      [redisKeys.check(id), redisKeys.checkResults(id)],
      [deadlineAt - createdAt + retentionMs, probes.length, ...probes, ...recordFields(check)],
    ),
    ...(screenshot?.state === 'pending' ? [watchScreenshot(redis, id, screenshot.probe, deadlineAt)] : []),
  ]);
  const refused = written.find((outcome) => outcome.status === 'rejected');
  if (refused !== undefined) throw refused.reason;
}

/** The record of a new check as alternating fields and values, without its version. */
export function recordFields(check: NewCheck): readonly (string | number)[] {
  const { type, host, between, emptyLocations, request, createdAt, deadlineAt, probes, screenshot, client, first } =
    check;
  const { absent = {} } = check;
  const pending = probes.length + (screenshot?.state === 'pending' ? 1 : 0);
  return [
    'type',
    type,
    'host',
    // `startScript` decodes it with the cjson of Redis, which rejects lone surrogates.
    host.toWellFormed(),
    'probes',
    probes.join(','),
    'createdAt',
    createdAt,
    'deadlineAt',
    deadlineAt,
    ...(between === undefined ? [] : ['between', between.join(',')]),
    ...(emptyLocations === undefined ? [] : ['emptyLocations', JSON.stringify(emptyLocations)]),
    ...(request === undefined ? [] : ['request', request]),
    ...(client === undefined ? [] : ['client', client]),
    ...(first === undefined ? [] : ['first', first]),
    ...(Object.keys(absent).length === 0 ? [] : ['absent', JSON.stringify(absent)]),
    'pending',
    pending,
    ...fieldsOf(screenshot),
  ];
}

/** Records that a probe is taking the screenshot of a check, so that its liveness is watched. */
export async function watchScreenshot(redis: Redis, id: string, probe: string, deadlineAt: number): Promise<void> {
  await redis.zadd(redisKeys.screenshots, deadlineAt, screenshotMember(id, probe));
}

/** The member that `watchScreenshot` would add for a new check; undefined if no screenshot is pending. */
export function watchedScreenshot({ id, screenshot }: NewCheck): string | undefined {
  return screenshot?.state === 'pending' ? screenshotMember(id, screenshot.probe) : undefined;
}

export function screenshotMember(id: string, probe: string): string {
  return `${id} ${probe}`;
}

function fieldsOf(screenshot: NewScreenshot | undefined): readonly string[] {
  if (screenshot === undefined) return [];
  if (screenshot.state === 'given_up') return ['shot', JSON.stringify(screenshot)];
  return ['shot', '', 'shotAsked', screenshot.probe, 'shotParams', JSON.stringify(screenshot.params)];
}

import type { Response } from 'express';

import { describeCaller, type Caller } from '../caller.ts';
import { HttpProblem } from '../problem.ts';
import { limitOf } from './axes.ts';
import type { Bucket } from './buckets.ts';
import type { TargetAxis } from './target-axes.ts';
import { WINDOW_MS, type Count, type TargetRefusal } from './window.ts';

/** Sets `RateLimit` and `RateLimit-Policy`, unless the response has begun. */
export function showClientLimit(response: Response, bucket: Bucket, caller: Caller, count: Count): void {
  if (response.headersSent) return;
  for (const [name, value] of Object.entries(limitHeaders([clientLimit(bucket, caller, count)]))) {
    response.setHeader(name, value);
  }
}

export function clientRefused({ limit, endpoint }: Bucket, caller: Caller, cost: number, resetMs: number): HttpProblem {
  const networks = ' IPv6 addresses count by /64, with wider limits for the /56 and /48 around it.';
  return new HttpProblem(
    'rate-limited',
    `The limit of ${limitOf(caller, limit)} requests a minute to ${endpoint} is reached for ${describeCaller(caller)}.` +
      (caller.key === undefined ? networks : '') +
      costSentence(cost),
    { headers: { 'Retry-After': String(seconds(resetMs)) } },
  );
}

function costSentence(cost: number): string {
  return cost === 1 ? '' : ` This check counts as ${cost} requests, by the packets and bytes that its options ask for.`;
}

/**
 * The refusal by the limit of a target. Its headers name two limits: that of the client, which has counted the request,
 * and the one that refuses it.
 */
export function targetRefused(
  bucket: Bucket,
  caller: Caller,
  { refusedBy: { axis, left, resetMs }, ...count }: Count & { readonly refusedBy: TargetRefusal },
  axes: readonly TargetAxis[],
): HttpProblem {
  const { policy, limit, says } = axes[axis]!;
  const limits = [clientLimit(bucket, caller, count), { name: policy, limit, left, resetMs }];
  return new HttpProblem('rate-limited', says(), {
    headers: { 'Retry-After': String(seconds(resetMs)), ...limitHeaders(limits) },
  });
}

/** A limit as shown in headers. */
interface ShownLimit {
  readonly name: string;
  readonly limit: number;
  readonly left: number;
  readonly resetMs: number;
}

function clientLimit(bucket: Bucket, caller: Caller, { hits, left, resetMs }: Count): ShownLimit {
  const { name } = bucket;
  const limit = limitOf(caller, bucket.limit);
  return { name, limit, left: left ?? Math.max(0, limit - hits), resetMs };
}

function limitHeaders(limits: readonly ShownLimit[]): Readonly<Record<string, string>> {
  return {
    RateLimit: limits.map(({ name, left, resetMs }) => `"${name}"; r=${left}; t=${seconds(resetMs)}`).join(', '),
    'RateLimit-Policy': limits.map(({ name, limit }) => `"${name}"; q=${limit}; w=${WINDOW_MS / 1_000}`).join(', '),
  };
}

function seconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1_000));
}

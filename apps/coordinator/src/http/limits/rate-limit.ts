import { AsyncLocalStorage } from 'node:async_hooks';

import type { Request, Response } from 'express';
import { rateLimit, type RateLimitInfo } from 'express-rate-limit';
import type { Logger } from 'pino';

import { callerOf, describeCaller, type Caller } from '../caller.ts';
import { HttpProblem } from '../problem.ts';
import { callerAxes, callerKey, limitOf } from './axes.ts';
import { createRefusals } from './refusals.ts';
import type { SharedWindow } from './shared-window.ts';
import type { TargetAxis } from './target-axes.ts';
import { WINDOW_MS, type Count, type TargetRefusal } from './window.ts';

/** The limit of an endpoint. */
export interface Bucket {
  /** Name of the policy in headers and of the counters in Redis; a token. */
  readonly name: string;
  /** The endpoint in messages, such as `POST /check`. */
  readonly endpoint: string;
  /** Requests per minute of one address; a key has its own limit. */
  readonly limit: number;
  /** True if all counters are in one slot of a Redis Cluster, because requests are also counted per target. */
  readonly inOneSlot?: boolean;
}

/**
 * Counts a request. Sets `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-08), and
 * `Retry-After` if a limit refuses it.
 *
 * @param asked cost and targets of the request
 * @throws HttpProblem 429 that names the limit; 400 if the client has no address
 */
export type Limit = (request: Request, response: Response, asked?: Partial<Asked>) => Promise<void>;

/** Properties of a request that affect its count. */
export interface Asked {
  /** Cost toward the client's limit; default 1. */
  readonly cost: number;
  /** Axes of the targets. */
  readonly targets: readonly TargetAxis[];
  /**
   * Prepares the response while the count is pending, if no local count refuses the request; its effect is discarded if
   * the request is refused. May never be called.
   */
  readonly onLikely: (() => void) | undefined;
  /** Key that Redis writes if it admits the request. */
  readonly grant: string | undefined;
}

const PLAIN: Asked = { cost: 1, targets: [], onLikely: undefined, grant: undefined };

/** A limit with a check in memory: clients known to be over their limit are refused before their request is read. */
export interface EarlyLimit {
  readonly count: Limit;
  /**
   * Refuses a client that was refused, until a request would be admitted again. Counts nothing.
   *
   * @throws HttpProblem 429
   */
  readonly refuseKnown: (request: Request, response: Response) => void;
}

export function limitRate(bucket: Bucket, window: SharedWindow, log: Logger): Limit {
  return limitEarly(bucket, window, log).count;
}

/** @param nowMs monotonic clock */
export function limitEarly(
  bucket: Bucket,
  window: SharedWindow,
  log: Logger,
  nowMs = (): number => performance.now(),
): EarlyLimit {
  const refusals = createRefusals(nowMs);
  /** express-rate-limit passes only the key to its store; this carries the rest. */
  const counting = new AsyncLocalStorage<Asked & { readonly caller: Caller; readonly response: Response }>();
  const limiter = rateLimit({
    windowMs: WINDOW_MS,
    limit: () => limitOf(counting.getStore()!.caller, bucket.limit),
    // The library's headers identify a client by a hash that is reversible for IPv4, and shared caches store headers.
    standardHeaders: false,
    legacyHeaders: false,
    keyGenerator: () => callerKey(counting.getStore()!.caller),
    store: {
      increment: async () => {
        const { caller, cost, targets, onLikely, grant, response } = counting.getStore()!;
        const client = callerAxes(caller, bucket.limit, cost);
        const count = await window.count(bucket, { client, target: targets, grant }, onLikely);
        const { refusedBy } = count;
        if (refusedBy !== undefined) throw targetRefused(bucket, caller, { ...count, refusedBy }, targets);
        showClientLimit(response, bucket, caller, count);
        // A request of higher cost may be refused when an ordinary one is not.
        if (!count.admitted && cost === 1) refusals.remember(client[0]!.key, count.resetMs);
        return { totalHits: count.hits, resetTime: new Date(Date.now() + count.resetMs) };
      },
      // Decrementing is not used.
      decrement: () => undefined,
      resetKey: () => undefined,
    },
    handler: (request) => {
      const { resetTime } = (request as typeof request & { readonly rateLimit: RateLimitInfo }).rateLimit;
      const { caller, cost } = counting.getStore()!;
      throw clientRefused(bucket, caller, cost, resetTime!.getTime() - Date.now());
    },
    // `callerOf` validates the address; a forwarded address from an untrusted proxy is deliberately ignored.
    validate: { keyGeneratorIpFallback: false, xForwardedForHeader: false, forwardedHeader: false, ip: false },
    logger: {
      error: (error, message) => log.error({ err: error }, message ?? 'express-rate-limit'),
      warn: (error, message) => log.warn({ err: error }, message ?? 'express-rate-limit'),
    },
  });
  return {
    count: async (request, response, asked) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      counting.run({ ...PLAIN, ...asked, caller: callerOf(request), response }, () => {
        void limiter(request, response, (error?: unknown) => {
          if (error === undefined) resolve();
          else reject(asError(error));
        });
      });
      return promise;
    },
    refuseKnown: (request, response) => {
      const caller = callerOf(request);
      const resetMs = refusals.leftMs(callerKey(caller));
      if (resetMs === undefined) return;
      showClientLimit(response, bucket, caller, { admitted: false, hits: limitOf(caller, bucket.limit) + 1, resetMs });
      throw clientRefused(bucket, caller, 1, resetMs);
    },
  };
}

function asError(thrown: unknown): Error {
  return Error.isError(thrown) ? thrown : new Error('a limiter failed', { cause: thrown });
}

function showClientLimit(response: Response, bucket: Bucket, caller: Caller, count: Count): void {
  if (!response.headersSent) response.set(limitHeaders([clientLimit(bucket, caller, count)]));
}

function clientRefused({ limit, endpoint }: Bucket, caller: Caller, cost: number, resetMs: number): HttpProblem {
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

/** The headers name two limits: that of the client, which has counted the request, and the one that refuses it. */
function targetRefused(
  bucket: Bucket,
  caller: Caller,
  { refusedBy: { axis, left, resetMs }, ...count }: Count & { readonly refusedBy: TargetRefusal },
  axes: readonly TargetAxis[],
): HttpProblem {
  const { policy, limit, says } = axes[axis]!;
  const limits = [clientLimit(bucket, caller, count), { name: policy, limit, left, resetMs }];
  return new HttpProblem('rate-limited', says, {
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

function clientLimit(bucket: Bucket, caller: Caller, { hits, resetMs }: Count): ShownLimit {
  const { name } = bucket;
  const limit = limitOf(caller, bucket.limit);
  return { name, limit, left: Math.max(0, limit - hits), resetMs };
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

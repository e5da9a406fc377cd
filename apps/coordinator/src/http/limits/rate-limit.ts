import { AsyncLocalStorage } from 'node:async_hooks';

import type { Request, Response } from 'express';
import { rateLimit, type RateLimitInfo, type RateLimitRequestHandler } from 'express-rate-limit';
import type { Logger } from 'pino';

import { callerOf, type Caller } from '../caller.ts';
import { callerAxes, callerKey, limitOf } from './axes.ts';
import type { Bucket } from './buckets.ts';
import { clientRefused, showClientLimit, targetRefused } from './limit-answers.ts';
import { createRefusals, type Refusals } from './refusals.ts';
import type { SharedWindow } from './shared-window.ts';
import type { TargetAxis } from './target-axes.ts';
import { WINDOW_MS, type Count } from './window.ts';

/**
 * Counts a request. Sets `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-08), and
 * `Retry-After` if a limit refuses it.
 *
 * @param asked cost and targets of the request
 * @throws HttpProblem 429 that names the limit; 400 if the client has no address
 */
export type Limit = (request: Request, response: Response, asked?: Partial<CountOptions>) => Promise<void>;

/** Properties of a request that affect its count. */
export interface CountOptions {
  /** Cost toward the client's limit; default 1. */
  readonly cost: number;
  /**
   * Limits of targets, of their ports and of the client's pairs of target and port, toward which the request counts,
   * too.
   */
  readonly targets: readonly TargetAxis[];
  /**
   * Called while Redis counts, if the count in memory admits the request; Redis may still refuse it. May never be
   * called.
   */
  readonly onLikely: (() => void) | undefined;
  /** Key that Redis writes if the limits of the client and of all targets admit the request. */
  readonly grant: string | undefined;
}

const PLAIN: CountOptions = { cost: 1, targets: [], onLikely: undefined, grant: undefined };

/** A limit with a check in memory, which refuses clients that are known to be over their limit. */
export interface EarlyLimit {
  readonly count: Limit;
  /**
   * Refuses a client that was refused before, until a request of cost 1 would be admitted again. Counts nothing.
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
  const counting = new AsyncLocalStorage<Counted>();
  const limiter = createLimiter(bucket, counting, log, (asked) => countRequest(bucket, window, refusals, asked));
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

/** A request that is being counted. */
interface Counted extends CountOptions {
  readonly caller: Caller;
  readonly response: Response;
}

/** @param counting express-rate-limit passes only the key to its store; this carries the rest */
function createLimiter(
  bucket: Bucket,
  counting: AsyncLocalStorage<Counted>,
  log: Logger,
  count: (asked: Counted) => Promise<Count>,
): RateLimitRequestHandler {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit: () => limitOf(counting.getStore()!.caller, bucket.limit),
    // The library's headers of draft 8 contain a hash of the client's key; trying all IPv4 addresses would reveal that
    // of the client.
    standardHeaders: false,
    legacyHeaders: false,
    keyGenerator: () => callerKey(counting.getStore()!.caller),
    store: {
      increment: async () => {
        const { hits, resetMs } = await count(counting.getStore()!);
        return { totalHits: hits, resetTime: new Date(Date.now() + resetMs) };
      },
      // The interface of a store requires these two; they are not used.
      decrement: () => undefined,
      resetKey: () => undefined,
    },
    handler: (request) => {
      const { resetTime } = (request as typeof request & { readonly rateLimit: RateLimitInfo }).rateLimit;
      const { caller, cost } = counting.getStore()!;
      throw clientRefused(bucket, caller, cost, resetTime!.getTime() - Date.now());
    },
    // The library's checks are off: `callerOf` validates the address, and a forwarded address from an untrusted proxy
    // is deliberately ignored.
    validate: { keyGeneratorIpFallback: false, xForwardedForHeader: false, forwardedHeader: false, ip: false },
    logger: {
      error: (error, message) => log.error({ err: error }, message ?? 'express-rate-limit'),
      warn: (error, message) => log.warn({ err: error }, message ?? 'express-rate-limit'),
    },
  });
}

/** @throws HttpProblem 429 if the limit of a target refuses the request */
async function countRequest(
  bucket: Bucket,
  window: SharedWindow,
  refusals: Refusals,
  { caller, cost, targets, onLikely, grant, response }: Counted,
): Promise<Count> {
  const client = callerAxes(caller, bucket.limit, cost);
  const count = await window.count(bucket, { client, target: targets, grant }, onLikely);
  const { refusedBy } = count;
  if (refusedBy !== undefined) throw targetRefused(bucket, caller, { ...count, refusedBy }, targets);
  showClientLimit(response, bucket, caller, count);
  // Only a refusal at cost 1 is remembered: a request of higher cost may be refused although one of cost 1 would be
  // admitted.
  if (!count.admitted && cost === 1) refusals.remember(client[0]!.key, count.resetMs);
  return count;
}

function asError(thrown: unknown): Error {
  return Error.isError(thrown) ? thrown : new Error('a limiter failed', { cause: thrown });
}

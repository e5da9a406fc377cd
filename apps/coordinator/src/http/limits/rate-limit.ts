import type { Request, Response } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import type { Logger } from 'pino';

import { clientAddress } from '../client-address.ts';
import { HttpProblem } from '../problem.ts';
import { axesOf, type Charge } from './axes.ts';
import type { SharedWindow } from './shared-window.ts';
import type { TargetAxis } from './target-axes.ts';
import { WINDOW_MS, type Count, type TargetRefusal } from './window.ts';

/** One endpoint's limit. */
export interface Bucket {
  /** Names the policy in the headers and the counters in Redis; a token. */
  readonly name: string;
  /** How a person calls the endpoint, such as `POST /check`. */
  readonly endpoint: string;
  /** Requests per minute of one client. */
  readonly limit: number;
  /** True where requests are counted by what they want measured, too. */
  readonly inOneSlot?: boolean;
}

/**
 * Counts a request: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-08) on the answer, and
 * `Retry-After` where a limit refuses it.
 *
 * @param targets what the request wants measured, once that is known
 * @throws HttpProblem 429 that says which limit it was; 400 where the client has no address
 */
export type Limit = (request: Request, response: Response, targets?: readonly TargetAxis[]) => Promise<void>;

/** Limits one endpoint. */
export function limitRate(bucket: Bucket, window: SharedWindow, log: Logger): Limit {
  const targetsOf = new WeakMap<Request, readonly TargetAxis[]>();
  const limiter = rateLimit({
    windowMs: WINDOW_MS,
    limit: bucket.limit,
    identifier: bucket.name,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (request) => toKey(clientAddress(request), bucket.limit, targetsOf.get(request) ?? []),
    store: windowStore(bucket, window),
    handler: (_request, response) => {
      throw new HttpProblem(
        'rate-limited',
        `The limit of ${bucket.limit} requests a minute to ${bucket.endpoint} is reached for your address. ` +
          'IPv6 addresses count by /64, with wider limits for the /56 and /48 around it.',
        { headers: { 'Retry-After': String(Math.max(1, Number(response.getHeader('Retry-After')))) } },
      );
    },
    // The address is validated by `clientAddress`; a forwarded address from an untrusted proxy is ignored on purpose.
    validate: { keyGeneratorIpFallback: false, xForwardedForHeader: false, forwardedHeader: false, ip: false },
    logger: {
      error: (error, message) => log.error({ err: error }, message ?? 'express-rate-limit'),
      warn: (error, message) => log.warn({ err: error }, message ?? 'express-rate-limit'),
    },
  });
  return (request, response, targets = []) => {
    targetsOf.set(request, targets);
    return new Promise((resolve, reject) => {
      void limiter(request, response, (error?: unknown) => {
        withoutPartitionKey(response);
        if (error === undefined) resolve();
        else reject(asError(error));
      });
    });
  };
}

function asError(thrown: unknown): Error {
  return Error.isError(thrown) ? thrown : new Error('a limiter failed', { cause: thrown });
}

/**
 * The library names the client in the policy by a hash of its key, which anybody can reverse for IPv4. Completed
 * results may be kept by shared caches, headers and all; so it goes. The parameter is optional (section 3.1 of the draft).
 */
function withoutPartitionKey(response: Response): void {
  const policy = response.getHeader('RateLimit-Policy');
  if (typeof policy === 'string') response.setHeader('RateLimit-Policy', policy.replace(/; pk=:[^:]*:/, ''));
}

/** The library's key is the text of all that the request is charged. */
function toKey(address: string, limit: number, target: readonly TargetAxis[]): string {
  return JSON.stringify({ client: axesOf(address, limit), target });
}

/** The library's store over the window. What it was made for, giving hits back, is not used here. */
function windowStore(bucket: Bucket, window: SharedWindow): Store {
  return {
    prefix: `${bucket.name}:`,
    increment: async (key) => {
      const charge = JSON.parse(key) as Charge & { readonly target: readonly TargetAxis[] };
      const count = await window.count(bucket, charge);
      if (count.refusedBy !== undefined) throw targetRefused(bucket, count, count.refusedBy, charge.target);
      return { totalHits: count.hits, resetTime: new Date(Date.now() + count.resetMs) };
    },
    decrement: () => undefined,
    resetKey: () => undefined,
  };
}

/** The headers name both limits: that of the client, which has counted the request, and the one that refuses it. */
function targetRefused(
  bucket: Bucket,
  count: Count,
  { axis, left, resetMs }: TargetRefusal,
  axes: readonly TargetAxis[],
): HttpProblem {
  const { policy, limit, says } = axes[axis]!;
  const limits = [
    { name: bucket.name, limit: bucket.limit, left: Math.max(0, bucket.limit - count.hits), resetMs: count.resetMs },
    { name: policy, limit, left, resetMs },
  ];
  const windowSeconds = WINDOW_MS / 1_000;
  return new HttpProblem('rate-limited', says, {
    headers: {
      'Retry-After': String(seconds(resetMs)),
      RateLimit: limits.map((one) => `"${one.name}"; r=${one.left}; t=${seconds(one.resetMs)}`).join(', '),
      'RateLimit-Policy': limits.map((one) => `"${one.name}"; q=${one.limit}; w=${windowSeconds}`).join(', '),
    },
  });
}

function seconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1_000));
}

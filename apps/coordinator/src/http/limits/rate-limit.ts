import type { Request, Response } from 'express';
import { rateLimit, type RateLimitInfo } from 'express-rate-limit';
import type { Logger } from 'pino';

import { clientAddress } from '../client-address.ts';
import { HttpProblem } from '../problem.ts';
import { axesOf, type Axis } from './axes.ts';
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
 * @param asked what is known of the request
 * @throws HttpProblem 429 that says which limit it was; 400 where the client has no address
 */
export type Limit = (request: Request, response: Response, asked?: Partial<Asked>) => Promise<void>;

/** What a request asks for. */
export interface Asked {
  /** What it counts for at the limit of its client; 1 by default. */
  readonly cost: number;
  /** What it wants measured. */
  readonly targets: readonly TargetAxis[];
  /**
   * Begins what the answer needs while the count is under way, if nothing is known here against the request; it comes to nothing
   * if the count refuses it. May not be called.
   */
  readonly onLikely: (() => void) | undefined;
}

const PLAIN: Asked = { cost: 1, targets: [], onLikely: undefined };

/** Limits one endpoint. */
export function limitRate(bucket: Bucket, window: SharedWindow, log: Logger): Limit {
  const asked = new WeakMap<Request, Asked>();
  /** What the library's keys stand for: it gives its store nothing else, and each is used once. */
  const charged = new Map<string, Charged>();
  let keys = 0;
  const limiter = rateLimit({
    windowMs: WINDOW_MS,
    limit: bucket.limit,
    // Its own name the client in the policy, by a hash that anybody can reverse for IPv4; and shared caches keep headers.
    standardHeaders: false,
    legacyHeaders: false,
    keyGenerator: (request, response) => {
      const { cost, targets, onLikely } = asked.get(request) ?? PLAIN;
      const client = axesOf(clientAddress(request), bucket.limit, cost);
      const key = String((keys += 1));
      charged.set(key, { client, response, targets, onLikely });
      return key;
    },
    store: {
      increment: async (key) => {
        const { client, targets, response, onLikely } = charged.get(key)!;
        charged.delete(key);
        const count = await window.count(bucket, { client, target: targets }, onLikely);
        if (count.refusedBy !== undefined) throw targetRefused(bucket, count, count.refusedBy, targets);
        if (!response.headersSent) response.set(limitHeaders([clientLimit(bucket, count)]));
        return { totalHits: count.hits, resetTime: new Date(Date.now() + count.resetMs) };
      },
      // What it was made for, giving hits back, is not used here.
      decrement: () => undefined,
      resetKey: () => undefined,
    },
    handler: (request) => {
      const { resetTime } = (request as typeof request & { readonly rateLimit: RateLimitInfo }).rateLimit;
      throw new HttpProblem(
        'rate-limited',
        `The limit of ${bucket.limit} requests a minute to ${bucket.endpoint} is reached for your address. ` +
          'IPv6 addresses count by /64, with wider limits for the /56 and /48 around it.' +
          costSentence((asked.get(request) ?? PLAIN).cost),
        { headers: { 'Retry-After': String(seconds(resetTime!.getTime() - Date.now())) } },
      );
    },
    // The address is validated by `clientAddress`; a forwarded address from an untrusted proxy is ignored on purpose.
    validate: { keyGeneratorIpFallback: false, xForwardedForHeader: false, forwardedHeader: false, ip: false },
    logger: {
      error: (error, message) => log.error({ err: error }, message ?? 'express-rate-limit'),
      warn: (error, message) => log.warn({ err: error }, message ?? 'express-rate-limit'),
    },
  });
  return (request, response, more) => {
    asked.set(request, { ...PLAIN, ...more });
    return new Promise((resolve, reject) => {
      void limiter(request, response, (error?: unknown) => {
        if (error === undefined) resolve();
        else reject(asError(error));
      });
    });
  };
}

interface Charged extends Omit<Asked, 'cost'> {
  readonly client: readonly Axis[];
  readonly response: Response;
}

function costSentence(cost: number): string {
  return cost === 1 ? '' : ` This check counts as ${cost} requests, by the packets and bytes that its options ask for.`;
}

function asError(thrown: unknown): Error {
  return Error.isError(thrown) ? thrown : new Error('a limiter failed', { cause: thrown });
}

/** The headers name both limits: that of the client, which has counted the request, and the one that refuses it. */
function targetRefused(
  bucket: Bucket,
  count: Count,
  { axis, left, resetMs }: TargetRefusal,
  axes: readonly TargetAxis[],
): HttpProblem {
  const { policy, limit, says } = axes[axis]!;
  const limits = [clientLimit(bucket, count), { name: policy, limit, left, resetMs }];
  return new HttpProblem('rate-limited', says, {
    headers: { 'Retry-After': String(seconds(resetMs)), ...limitHeaders(limits) },
  });
}

/** A limit as the headers name it. */
interface ShownLimit {
  readonly name: string;
  readonly limit: number;
  readonly left: number;
  readonly resetMs: number;
}

function clientLimit({ name, limit }: Bucket, { hits, resetMs }: Count): ShownLimit {
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

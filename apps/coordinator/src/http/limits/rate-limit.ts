import type { RequestHandler } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import type { Logger } from 'pino';

import { clientAddress } from '../client-address.ts';
import { HttpProblem } from '../problem.ts';
import { axesOf } from './axes.ts';
import type { SharedWindow } from './shared-window.ts';
import { WINDOW_MS } from './window.ts';

/** One endpoint's limit. */
export interface Bucket {
  /** Names the policy in the headers and the counters in Redis; a token. */
  readonly name: string;
  /** How a person calls the endpoint, such as `POST /check`. */
  readonly endpoint: string;
  /** Requests per minute of one client. */
  readonly limit: number;
}

/**
 * Limits one endpoint: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-08) on every answer,
 * 429 with `Retry-After` above the limit.
 */
export function limitRate(bucket: Bucket, window: SharedWindow, log: Logger): RequestHandler {
  const limiter = rateLimit({
    windowMs: WINDOW_MS,
    limit: bucket.limit,
    identifier: bucket.name,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (request) => clientAddress(request),
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
  return (request, response, next) => {
    void limiter(request, response, (error?: unknown) => {
      withoutPartitionKey(response);
      next(error);
    });
  };
}

/**
 * The library names the client in the policy by a hash of its address, which anybody can reverse for IPv4. Completed
 * results may be kept by shared caches, headers and all; so it goes. The parameter is optional (section 3.1 of the draft).
 */
function withoutPartitionKey(response: {
  getHeader(name: string): unknown;
  setHeader(name: string, value: string): void;
}): void {
  const policy = response.getHeader('RateLimit-Policy');
  if (typeof policy === 'string') response.setHeader('RateLimit-Policy', policy.replace(/; pk=:[^:]*:/, ''));
}

/** The library's store over the window. What it was made for, giving hits back, is not used here. */
function windowStore({ name, limit }: Bucket, window: SharedWindow): Store {
  return {
    prefix: `${name}:`,
    increment: async (address) => {
      const { hits, resetMs } = await window.count(name, axesOf(address, limit));
      return { totalHits: hits, resetTime: new Date(Date.now() + resetMs) };
    },
    decrement: () => undefined,
    resetKey: () => undefined,
  };
}

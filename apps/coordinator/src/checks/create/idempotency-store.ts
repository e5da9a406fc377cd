import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { redisKeys } from '@vantage/contract';
import { pause } from '@vantage/timers';
import type { Redis } from 'ioredis';

import { defineScript, runScript } from '../../redis/scripts.ts';
import { onStore } from '../../redis/store.ts';

/** The response to the first request with a key. */
export interface IdempotencyRecord {
  readonly checkId: string;
  readonly message: string;
}

/**
 * No request with this key is known, or the request has none. `keep` stores its response; `release` frees the key, for a
 * request that created no check. Neither rejects.
 */
export interface FirstClaim {
  readonly kind: 'first';
  /** Digest of client and key, by which the record is removed if the check is evicted; undefined without a key. */
  readonly digest?: string;
  readonly keep: (answer: IdempotencyRecord) => Promise<void>;
  readonly release: () => Promise<void>;
}

export type Claim =
  | FirstClaim
  | { readonly kind: 'repeated'; readonly answer: IdempotencyRecord }
  /** The key was used with a different request. */
  | { readonly kind: 'other-request' }
  /** The first request with this key has no response yet. */
  | { readonly kind: 'under-way' };

/** The claim of a request without a key. */
export const noClaim: Claim = { kind: 'first', keep: async () => undefined, release: async () => undefined };

/** Responses to requests with an `Idempotency-Key`, shared by all coordinators. */
export interface IdempotencyStore {
  /**
   * Locks a key. If an equal request holds the lock, waits up to `waitMs` for its response.
   *
   * @param client owner of the key; only a digest of client and key is stored
   * @param request text of the request, to detect a different one; only its digest is stored
   * @throws StoreUnavailable
   */
  readonly claim: (client: string, key: string, request: string, signal: AbortSignal) => Promise<Claim>;
}

export interface IdempotencyTimes {
  /** Lifetime of a response. */
  readonly keepMs: number;
  /** Lifetime of a lock, so that the lock of a coordinator that died expires. */
  readonly leaseMs: number;
  readonly waitMs: number;
}

/** How long a request waits for the response to another one with the same key. */
export const KEY_WAIT_MS = 5_000;

/** The longest time for which a response is kept. */
export const KEY_KEPT_MS = 24 * 3_600_000;

const standardTimes: IdempotencyTimes = { keepMs: KEY_KEPT_MS, leaseMs: 10_000, waitMs: KEY_WAIT_MS };
const POLL_INTERVAL_MS = 50;
const RELEASE_EVERY_MS = 500;

/**
 * Compares and sets. KEYS the key. ARGV expected value, new value ('' deletes), lifetime (ms). Returns 1 if the key had
 * the expected value.
 */
export const replaceScript = defineScript(
  'allow-oom',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
return 1
`,
);

interface Held {
  readonly request: string;
  /** Owner of the lock while there is no response. */
  readonly token?: string;
  readonly answer?: IdempotencyRecord;
}

export function createIdempotencyStore(redis: Redis, times: Partial<IdempotencyTimes> = {}): IdempotencyStore {
  const { keepMs, leaseMs, waitMs } = { ...standardTimes, ...times };
  return {
    claim: async (client, key, request, signal) => {
      const keyDigest = digest(`${client}\n${key}`);
      const name = redisKeys.idempotencyRecord(keyDigest);
      const own = JSON.stringify({ request: digest(request), token: randomBytes(12).toString('base64url') });
      const until = performance.now() + waitMs;
      for (;;) {
        const held = await onStore(redis, () => redis.set(name, own, 'PX', leaseMs, 'NX', 'GET'));
        if (held === null) return { ...first(redis, name, own, { keepMs, leaseMs }), digest: keyDigest };
        const { request: theirs, answer } = JSON.parse(held) as Held;
        if (theirs !== digest(request)) return { kind: 'other-request' };
        if (answer !== undefined) return { kind: 'repeated', answer };
        if (signal.aborted || performance.now() > until) return { kind: 'under-way' };
        await pause(POLL_INTERVAL_MS, signal);
      }
    },
  };
}

function first(
  redis: Redis,
  name: string,
  own: string,
  { keepMs, leaseMs }: Pick<IdempotencyTimes, 'keepMs' | 'leaseMs'>,
): Claim & { readonly kind: 'first' } {
  const until = performance.now() + leaseMs;
  const replace = async (value: string): Promise<void> => {
    try {
      await onStore(redis, () => runScript(redis, replaceScript, [name], [own, value, keepMs]));
    } catch {
      void again(value);
    }
  };
  // Tries again in the background until the lease ends; then the lock has expired.
  const again = async (value: string): Promise<void> => {
    await sleep(RELEASE_EVERY_MS, undefined, { ref: false });
    if (performance.now() < until) await replace(value);
  };
  return {
    kind: 'first',
    keep: (answer) => {
      const { request } = JSON.parse(own) as Held;
      return replace(JSON.stringify({ request, answer }));
    },
    release: () => replace(''),
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

import { redisKeys } from '@vantage/contract';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { evaluateTarget } from '@vantage/target-policy';
import { Redis } from 'ioredis';

import { readAdminConfig } from '../src/admin/config.ts';
import { runKeyAdmin } from '../src/admin/keys/key-commands.ts';
import { createKeyPolicies } from '../src/keys/key-policies.ts';
import { createKeyRing, type KeyRing } from '../src/keys/key-ring.ts';
import { createRedisClock } from '../src/redis/clock.ts';
import type { EvaluateTarget } from '../src/http/requests/accept-request.ts';
import { PATIENT_MS, quiet } from './core-bed.ts';
import { startHttpBed, type BedOptions, type HttpBed } from './http-bed.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A real Redis, the operator's commands on keys, and HTTP layers of coordinators that share it. */
export interface KeyBed {
  readonly server: RedisServer;
  readonly redis: Redis;
  readonly run: (...args: readonly string[]) => Promise<Ran>;
  /** Adds a key and returns its text; throws if the command fails. */
  readonly add: (name: string, ...options: readonly string[]) => Promise<string>;
  /** A copy of the keys, which only its `poll` refreshes. */
  readonly openRing: () => KeyRing;
  /** An HTTP layer that refreshes its copy of the keys every 100 ms, unless `keys` are given. */
  readonly startEdge: (options?: BedOptions) => Promise<HttpBed>;
  readonly stop: () => Promise<void>;
}

/** The policy of a coordinator that denies 10.9.0.0/16. */
const policyFor = createKeyPolicies({ deny: ['10.9.0.0/16'] });
const judge: EvaluateTarget = (target, allow) => evaluateTarget(target, policyFor(allow));

export async function startKeyBed(): Promise<KeyBed> {
  const server = await startRedisServer({ executable: findRedisServer(process.env['PATH'] ?? '')! });
  const redis = new Redis(server.url);
  const timers = new Set<NodeJS.Timeout>();
  const edges: HttpBed[] = [];
  const openRing = (): KeyRing => createKeyRing(redis, createRedisClock(), quiet);
  const follow = async (): Promise<KeyRing> => {
    const ring = openRing();
    await ring.poll();
    timers.add(setInterval(() => void ring.poll().catch(() => undefined), 100));
    return ring;
  };
  const run: KeyBed['run'] = async (...args) => {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runKeyAdmin(args, readAdminConfig({ REDIS_URL: server.url }), {
      out: (line) => out.push(line),
      err: (line) => err.push(line),
    });
    return { code, out: out.join('\n'), err: err.join('\n') };
  };
  return {
    server,
    redis,
    openRing,
    run,
    add: async (name, ...options) => {
      const { code, out, err } = await run('key:add', name, ...options);
      if (code !== 0) throw new Error(err);
      return out;
    },
    startEdge: async (options) => {
      const keys = options?.keys ?? (await follow());
      const shared = { rateLimitRedis: redis, rateLimitReplyMs: PATIENT_MS };
      const edge = await startHttpBed({ evaluateTarget: judge, ...shared, ...options, keys });
      edges.push(edge);
      return edge;
    },
    stop: async () => {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(edges.map((edge) => edge.close()));
      redis.disconnect();
      await server.stop();
    },
  };
}

export function bearer(key: string): Readonly<Record<string, string>> {
  return { Authorization: `Bearer ${key}` };
}

/** The stored text of all key records. */
export async function storedKeys(redis: Redis): Promise<string> {
  return JSON.stringify(await redis.hgetall(redisKeys.apiKeys));
}

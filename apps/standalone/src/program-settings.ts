import type { Arguments } from './arguments.ts';
import { mallocSettings } from './node-flags.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Grace period of a program after SIGTERM if agents drain for ten seconds, the default, or less. */
const LEAST_GRACE_MS = 15_000;
/** Time in which an agent ends after it has drained. */
const AFTER_DRAIN_MS = 5_000;

/** Settings that this program gives to the coordinator; all others come from the environment. */
export function coordinatorEnv(
  args: Arguments,
  env: Env,
  port: number,
  url: string,
  redisUrl: string,
): Record<string, string> {
  return {
    ...mallocSettings,
    HOST: '127.0.0.1',
    PORT: String(port),
    // Set by the operator behind a reverse proxy.
    PUBLIC_URL: env['PUBLIC_URL'] ?? url,
    REDIS_URL: redisUrl,
    TARGET_ALLOW: allowed(args, env),
    ...(args.rateLimit === undefined ? {} : rateLimits(args.rateLimit)),
  };
}

function allowed(args: Arguments, env: Env): string {
  return [env['TARGET_ALLOW'] ?? '', ...args.allow].filter((part) => part !== '').join(',');
}

function rateLimits(perMinute: number): Record<string, string> {
  const names = ['CHECK', 'RESULTS', 'EVENTS', 'SCREENSHOT', 'SUMMARY', 'PROBES', 'MONITORS', 'ME'].map(
    (name) => `RATE_LIMIT_${name}`,
  );
  return Object.fromEntries(names.map((name) => [name, String(perMinute)]));
}

export interface LocalProbe {
  readonly id: string;
  /** Index of the local probe, from 0. */
  readonly index: number;
  readonly redisUrl: string;
}

/**
 * Settings of one agent. With `METRICS_PORT` the agents take the ports after that of the coordinator; 0 is any free
 * port.
 */
export function probeEnv(args: Arguments, env: Env, { id, index, redisUrl }: LocalProbe): Record<string, string> {
  const metricsPort = Number(env['METRICS_PORT'] ?? '');
  return {
    ...mallocSettings,
    PROBE_ID: id,
    REDIS_URL: redisUrl,
    TARGET_ALLOW: allowed(args, env),
    ...(metricsPort > 0 ? { METRICS_PORT: String(metricsPort + 1 + index) } : {}),
  };
}

/** Grace period of each program after SIGTERM: some seconds more than agents drain. */
export function graceMs(env: Env): number {
  const drainMs = 1_000 * Number(env['DRAIN_SECONDS'] ?? '');
  // With a setting that is no number, agents do not start, so they have nothing to drain.
  return Math.max(LEAST_GRACE_MS, Number.isNaN(drainMs) ? 0 : drainMs + AFTER_DRAIN_MS);
}

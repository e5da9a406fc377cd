import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';

/** A coordinator in a separate process, as in production. */
export interface CoordinatorProcess {
  readonly port: number;
  readonly pid: number;
  readonly url: string;
  /** Lines that the coordinator printed: its log, of level `error` and above unless LOG_LEVEL is in `env`. */
  readonly errors: readonly string[];
  readonly isAlive: () => boolean;
  readonly stop: () => Promise<void>;
}

/** @param env in addition to address, port and Redis; the rate limits are out of reach unless it has them */
export async function startCoordinatorProcess(
  redisUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<CoordinatorProcess> {
  const many = '1000000000';
  const child = fork(bundledProgram('coordinator'), [], {
    env: {
      ...programEnv(),
      HOST: '127.0.0.1',
      PORT: '0',
      REDIS_URL: redisUrl,
      LOG_LEVEL: 'error',
      RATE_LIMIT_CHECK: many,
      RATE_LIMIT_RESULTS: many,
      RATE_LIMIT_PROBES: many,
      RATE_LIMIT_ME: many,
      RATE_LIMIT_EVENTS: many,
      RATE_LIMIT_SCREENSHOT: many,
      RATE_LIMIT_SUMMARY: many,
      RATE_LIMIT_MONITORS: many,
      RATE_LIMIT_SCRAPE: many,
      RATE_LIMIT_TARGET: many,
      RATE_LIMIT_TARGET_PORTS: many,
      RATE_LIMIT_CLIENT_TARGETS: many,
      // Nothing listens there: no query leaves loopback.
      DNS_SERVERS: '127.0.0.1:9',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const errors: string[] = [];
  for (const stream of [child.stdout!, child.stderr!])
    createInterface({ input: stream }).on('line', (line) => errors.push(line));
  const exited = once(child, 'exit');
  const [said] = (await Promise.race([once(child, 'message'), exited])) as [unknown];
  if (typeof said !== 'object' || said === null || !('port' in said) || typeof said.port !== 'number') {
    throw new Error(`the coordinator did not start:\n${errors.join('\n')}`);
  }
  return {
    port: said.port,
    pid: child.pid!,
    url: `http://127.0.0.1:${said.port}`,
    errors,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      child.kill('SIGTERM');
      const patience = new AbortController();
      await Promise.race([exited, sleep(5_000, undefined, { signal: patience.signal }).catch(() => undefined)]);
      patience.abort();
      child.kill('SIGKILL');
    },
  };
}

import { setImmediate as turn } from 'node:timers/promises';

import { createClient, ProblemError, type CheckOf, type Client } from '@vantage/client';
import type { CheckTypeName } from '@vantage/diagnostics/contract';
import { pause } from '@vantage/timers';

import type { Config } from './config.ts';
import { createMeasurements, type Measurements } from './measurements.ts';
import { planArrivals, type Arrival } from './plan.ts';

/** Promised delay between deadline and completion. */
const GRACE_MS = 2_000;
/** Delay after the deadline at which a check is given up. */
const GIVE_UP_MS = 15_000;
const LONGEST_WAIT_SECONDS = 25;
/** Longest time between two turns of the event loop while arrivals are overdue. */
const LISTEN_EVERY_MS = 10;

export interface LoadRun {
  readonly measurements: Measurements;
  readonly startedAt: Date;
  /** Counted seconds: fewer than requested if the load was stopped. */
  readonly countedSeconds: number;
  /** CPU time of this process since the start of the load. */
  readonly cpuMs: number;
}

/**
 * Starts each check at its time, independent of earlier ones, and follows it to completion. Times are measured from the
 * intended start, so that delays of generator and service are included (no coordinated omission). If a timer fires
 * early by a fraction of a millisecond, the actual start is used.
 *
 * @param signal ends the load and abandons running checks
 */
export async function runLoad(config: Config, signal: AbortSignal): Promise<LoadRun> {
  const client = createClient({ baseUrl: config.url });
  const measurements = createMeasurements();
  const underWay = new Set<Promise<void>>();
  const startedAt = new Date();
  const cpuBefore = process.cpuUsage();
  const beginMs = performance.now();
  let listenedMs = beginMs;
  for (const arrival of planArrivals(config)) {
    const dueMs = beginMs + arrival.atMs;
    const nowMs = performance.now();
    if (dueMs - nowMs >= 1) {
      await pause(dueMs - nowMs, signal);
      listenedMs = performance.now();
    } else if (nowMs - listenedMs > LISTEN_EVERY_MS) {
      await turn();
      listenedMs = performance.now();
    }
    if (signal.aborted) break;
    const one = follow({ client, config, measurements, signal }, arrival, dueMs).finally(() => underWay.delete(one));
    underWay.add(one);
  }
  const countedSeconds = signal.aborted ? secondsOf(config, performance.now() - beginMs) : config.seconds;
  await Promise.all(underWay);
  const { user, system } = process.cpuUsage(cpuBefore);
  return { measurements, startedAt, countedSeconds, cpuMs: (user + system) / 1_000 };
}

/** Counted seconds of a load of this duration. */
function secondsOf({ seconds, warmUpSeconds }: Config, lastedMs: number): number {
  return Math.min(seconds, Math.max(0, lastedMs / 1_000 - warmUpSeconds));
}

interface Parts {
  readonly client: Client;
  readonly config: Config;
  readonly measurements: Measurements;
  readonly signal: AbortSignal;
}

/** Starts one check and follows it to its end. Never rejects: failures are counted, except those of the warm-up. */
async function follow(
  { client, config, measurements, signal }: Parts,
  { request, budgetMs, atMs, counts }: Arrival,
  dueMs: number,
): Promise<void> {
  const giveUp = AbortSignal.any([signal, AbortSignal.timeout(budgetMs + GIVE_UP_MS)]);
  const fromMs = Math.min(dueMs, performance.now());
  const lagMs = performance.now() - fromMs;
  // Computed for each check: wall clock and monotonic clock drift apart over hours.
  const fromWallMs = Date.now() - lagMs;
  const second = counts ? measurements.second(atMs - config.warmUpSeconds * 1_000) : undefined;
  if (second !== undefined) {
    second.started += 1;
    measurements.count('started');
    measurements.lag.record(lagMs);
  }
  try {
    const { checkId } = await client.startCheck(request, { signal: giveUp });
    const postMs = performance.now() - fromMs;
    if (second !== undefined) {
      measurements.count('accepted');
      measurements.post.record(postMs);
      second.post.push(postMs);
    }
    const check = await completed(client, checkId, config.follow, giveUp);
    if (second === undefined) return;
    const completionMs = performance.now() - fromMs;
    measurements.count('completed');
    measurements.completion.record(completionMs);
    second.completed += 1;
    second.completion.push(completionMs);
    noteTimes(measurements, second, check, { budgetMs, fromWallMs });
  } catch (error) {
    if (second === undefined) return;
    second.errors += 1;
    measurements.countError(kindOf(error, signal));
  }
}

async function completed(
  client: Client,
  checkId: string,
  how: Config['follow'],
  signal: AbortSignal,
): Promise<CheckOf<CheckTypeName>> {
  if (how === 'sse') {
    for await (const event of client.watch(checkId, { signal })) {
      if (event.type === 'completed') return event.check;
    }
    throw new Error('an event stream ended before its check');
  }
  for (;;) {
    const check = await client.results(checkId, { signal, waitSeconds: LONGEST_WAIT_SECONDS });
    if (check.status === 'completed') return check;
  }
}

function noteTimes(
  measurements: Measurements,
  second: ReturnType<Measurements['second']>,
  check: CheckOf<CheckTypeName>,
  { budgetMs, fromWallMs }: { readonly budgetMs: number; readonly fromWallMs: number },
): void {
  const createdAt = Date.parse(check.createdAt);
  const lateMs = check.completedAt === null ? 0 : Date.parse(check.completedAt) - (createdAt + budgetMs);
  if (lateMs > 0) measurements.count('after deadline');
  if (lateMs > GRACE_MS) measurements.count('late');
  for (const result of Object.values(check.results)) {
    measurements.count('probe-runs');
    measurements.countResult(result.error?.code ?? result.result);
    if (result.error?.code === 'probe_timeout') measurements.count('not answered in time');
    if (typeof result.startedAt !== 'string') continue;
    const jobStart = Date.parse(result.startedAt);
    measurements.dispatch.record(jobStart - fromWallMs);
    measurements.queue.record(jobStart - createdAt);
    second.dispatch.push(jobStart - fromWallMs);
  }
}

function kindOf(error: unknown, stopped: AbortSignal): string {
  if (error instanceof ProblemError) return `${error.status} ${error.problem?.title ?? 'not from the service'}`;
  if (stopped.aborted) return 'load was stopped';
  if (!Error.isError(error)) return 'unknown';
  if (error.name === 'TimeoutError') return 'not completed in time';
  const { cause } = error;
  if (!Error.isError(cause)) return error.message;
  return 'code' in cause ? String(cause.code) : cause.message;
}

import { setTimeout as sleep } from 'node:timers/promises';

import { createClient, ProblemError, type CheckOf, type Client } from '@vantage/client';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import type { Config } from './config.ts';
import { createMeasurements, type Measurements } from './measurements.ts';
import { planArrivals, type Arrival } from './plan.ts';

/** What the service promises for the end of a check after its deadline. */
const GRACE_MS = 2_000;
/** What is not completed so long after its deadline is given up. */
const GIVE_UP_MS = 15_000;
const LONGEST_WAIT_SECONDS = 25;

export interface LoadRun {
  readonly measurements: Measurements;
  readonly startedAt: Date;
  /** CPU time of this process since the load began. */
  readonly cpuMs: number;
}

/**
 * Starts each check at its time, whatever became of those before, and follows it to its end. Times are counted from the
 * intended start: where the generator or the service is behind, that is in them (no coordinated omission).
 *
 * @param signal ends the load; what is under way is given up
 */
export async function runLoad(config: Config, signal: AbortSignal): Promise<LoadRun> {
  const client = createClient({ baseUrl: config.url });
  const measurements = createMeasurements();
  const underWay = new Set<Promise<void>>();
  const startedAt = new Date();
  const cpuBefore = process.cpuUsage();
  const base = { monotonicMs: performance.now(), wallMs: Date.now() };
  for (const arrival of planArrivals(config)) {
    const dueMs = base.monotonicMs + arrival.atMs;
    const waitMs = dueMs - performance.now();
    if (waitMs >= 1) await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    const one = follow({ client, config, measurements, signal }, arrival, dueMs, base.wallMs + arrival.atMs).finally(
      () => underWay.delete(one),
    );
    underWay.add(one);
  }
  await Promise.all(underWay);
  const { user, system } = process.cpuUsage(cpuBefore);
  return { measurements, startedAt, cpuMs: (user + system) / 1_000 };
}

interface Parts {
  readonly client: Client;
  readonly config: Config;
  readonly measurements: Measurements;
  readonly signal: AbortSignal;
}

/** Never rejects: what goes wrong is counted. */
async function follow(
  { client, config, measurements, signal }: Parts,
  { request, budgetMs, atMs, counts }: Arrival,
  dueMs: number,
  dueWallMs: number,
): Promise<void> {
  const giveUp = AbortSignal.any([signal, AbortSignal.timeout(budgetMs + GIVE_UP_MS)]);
  const lagMs = performance.now() - dueMs;
  const second = counts ? measurements.second(atMs - config.warmUpSeconds * 1_000) : undefined;
  if (second !== undefined) {
    second.started += 1;
    measurements.count('started');
    measurements.lag.record(lagMs);
  }
  try {
    const { checkId } = await client.startCheck(request, { signal: giveUp });
    const postMs = performance.now() - dueMs;
    if (second !== undefined) {
      measurements.count('accepted');
      measurements.post.record(postMs);
      second.post.push(postMs);
    }
    const check = await completed(client, checkId, config.follow, giveUp);
    if (second === undefined) return;
    const completionMs = performance.now() - dueMs;
    measurements.count('completed');
    measurements.completion.record(completionMs);
    second.completed += 1;
    second.completion.push(completionMs);
    noteTimes(measurements, second, check, { budgetMs, dueWallMs });
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
  { budgetMs, dueWallMs }: { readonly budgetMs: number; readonly dueWallMs: number },
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
    measurements.dispatch.record(jobStart - dueWallMs);
    measurements.queue.record(jobStart - createdAt);
    second.dispatch.push(jobStart - dueWallMs);
  }
}

function kindOf(error: unknown, stopped: AbortSignal): string {
  if (error instanceof ProblemError) return `${error.status} ${error.problem?.title ?? 'not from the service'}`;
  if (stopped.aborted) return 'load was stopped';
  if (!Error.isError(error)) return 'unknown';
  if (error.name === 'TimeoutError') return 'not completed in time';
  const { cause } = error;
  return Error.isError(cause) && 'code' in cause ? String(cause.code) : error.message;
}

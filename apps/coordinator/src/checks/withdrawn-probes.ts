import { checkOfScreenshotJob, redisKeys, type Failure } from '@vantage/contract';
import { within } from '@vantage/timers';
import type { Redis } from 'ioredis';

import { removedFailure, suspendedFailure } from '../probes/access/withdrawal.ts';
import type { ProbeDirectory } from '../probes/registry/probe-directory.ts';
import { readProbeIds } from '../probes/registry/probe-records.ts';
import type { RedisClock } from '../redis/clock.ts';
import { readHash } from '../redis/read-hash.ts';
import type { MasterGate } from '../redis/server-state/master-gate.ts';
import { onStore } from '../redis/store.ts';
import type { Ingest } from './ingest/ingest.ts';
import type { CheckScreenshots } from './screenshots/screenshots.ts';
import { pendingProbes, readKept, completeUnanswered, type CompletionDependencies } from './complete-unanswered.ts';
import { withdrawnResult } from './store/synthetic-results.ts';

/**
 * Time after a change of the probes in which pending checks are read again: a coordinator that has not learnt of the
 * change may give the probe further checks.
 */
const REPEAT_FOR_MS = 5_000;
/** Maximum number of checks that are read or ended at once. */
const AT_ONCE = 200;
/** Longest wait for the last results of the probes. */
const LAST_DRAIN_MS = 500;
/** Interval at which the list of jobs that were taken out of queues is read. */
const NOTES_EVERY_MS = 500;

export interface WithdrawnProbesDependencies extends CompletionDependencies {
  readonly clock: RedisClock;
  readonly directory: Pick<ProbeDirectory, 'changes'>;
  readonly ingest: Pick<Ingest, 'drain'>;
  readonly screenshots: Pick<CheckScreenshots, 'passOn'>;
  /** True for a grace period after an outage of Redis, in which no result is ended. */
  readonly isGrace: () => boolean;
  /** While closed, no result is written. */
  readonly gate: Pick<MasterGate, 'isOpen'>;
  /** Monotonic clock, milliseconds. */
  readonly nowMs?: () => number;
}

/**
 * Ends the missing results of probes that were suspended or removed, which would otherwise stay pending until the
 * deadline. Every coordinator does so, without a lease: it is idempotent. Pending checks are read at the start of the
 * coordinator and for `REPEAT_FOR_MS` after each change of the probes. The results of jobs that were taken out of
 * queues end too, even if their probe was resumed since.
 */
export class WithdrawnProbes {
  readonly #dependencies: WithdrawnProbesDependencies;
  readonly #nowMs: () => number;
  #changes = -1;
  #until = Number.NEGATIVE_INFINITY;
  #isDue = false;
  #notesAtMs = Number.NEGATIVE_INFINITY;

  constructor(dependencies: WithdrawnProbesDependencies) {
    this.#dependencies = dependencies;
    this.#nowMs = dependencies.nowMs ?? (() => performance.now());
  }

  /** @throws StoreUnavailable */
  readonly poll = async (): Promise<void> => {
    const { redis, directory, isGrace, gate } = this.#dependencies;
    const changes = directory.changes();
    if (changes !== this.#changes) {
      this.#changes = changes;
      this.#until = this.#nowMs() + REPEAT_FOR_MS;
      this.#isDue = true;
    }
    if (isGrace() || !gate.isOpen()) return;
    await this.#endNoted();
    if (!this.#isDue) return;
    const isLast = this.#nowMs() >= this.#until;
    await onStore(redis, () => endAll(this.#dependencies));
    if (isLast) this.#isDue = false;
  };

  async #endNoted(): Promise<void> {
    if (this.#nowMs() < this.#notesAtMs + NOTES_EVERY_MS) return;
    this.#notesAtMs = this.#nowMs();
    await onStore(this.#dependencies.redis, () => endNoted(this.#dependencies));
  }
}

async function endAll(dependencies: WithdrawnProbesDependencies): Promise<void> {
  const { redis } = dependencies;
  // Reads the checks first: a probe of one of them that is missing in the list read afterwards was removed, and is not
  // just new.
  const pending = await readPending(redis);
  if (pending.size === 0) return;
  const [listed, suspended] = await Promise.all([
    readProbeIds(redis).then((ids) => new Set(ids)),
    readHash(redis, redisKeys.suspended),
  ]);
  const failures = new Map<string, Failure>();
  for (const probe of new Set([...pending.values()].flat())) {
    const failure = failureOf(listed.has(probe), suspended[probe]);
    if (failure !== undefined) failures.set(probe, failure);
  }
  if (failures.size === 0) return;
  const concerned = [...pending].filter(([, probes]) => probes.some((probe) => failures.has(probe)));
  await endThese(dependencies, new Map(concerned.map(([id]) => [id, failures])));
}

type Failures = ReadonlyMap<string, Failure>;

/** Ends the results of jobs that were taken out of the queues of their probes. */
async function endNoted(dependencies: WithdrawnProbesDependencies): Promise<void> {
  const { redis } = dependencies;
  const notes = Object.entries(await readHash(redis, redisKeys.withdrawnJobs));
  if (notes.length === 0) return;
  const checks = new Map<string, Map<string, Failure>>();
  for (const [field, failure] of notes) {
    const [job = '', probe = ''] = field.split(' ');
    const id = checkOfScreenshotJob(job) ?? job;
    checks.set(id, (checks.get(id) ?? new Map<string, Failure>()).set(probe, JSON.parse(failure) as Failure));
  }
  await endThese(dependencies, checks);
  await redis.hdel(redisKeys.withdrawnJobs, ...notes.map(([field]) => field));
}

/** @param checks the failures of probes by the ids of their checks */
async function endThese(
  dependencies: WithdrawnProbesDependencies,
  checks: ReadonlyMap<string, Failures>,
): Promise<void> {
  const probes = new Set([...checks.values()].flatMap((failures) => [...failures.keys()]));
  // Results that are already in the streams count, even if they have not been read yet.
  await within(Promise.all([...probes].map((probe) => dependencies.ingest.drain(probe, 0))), LAST_DRAIN_MS);
  const all = [...checks];
  for (let index = 0; index < all.length; index += AT_ONCE) {
    const some = all.slice(index, index + AT_ONCE);
    await Promise.all(some.map(([id, failures]) => endOf(dependencies, id, failures)));
  }
}

/** All probes of each check that is not completed. */
async function readPending(redis: Redis): Promise<ReadonlyMap<string, readonly string[]>> {
  const ids = await redis.zrange(redisKeys.deadlines, '0', '-1');
  const pending = new Map<string, readonly string[]>();
  for (let index = 0; index < ids.length; index += AT_ONCE) {
    const some = ids.slice(index, index + AT_ONCE);
    const rows = await Promise.all(some.map((id) => redis.hmget(redisKeys.check(id), 'probes', 'completedAt')));
    for (const [at, [probes, completedAt]] of rows.entries()) {
      if (typeof probes === 'string' && typeof completedAt !== 'string') pending.set(some[at]!, probes.split(','));
    }
  }
  return pending;
}

function failureOf(isListed: boolean, suspension: string | undefined): Failure | undefined {
  if (!isListed) return removedFailure();
  return suspension === undefined ? undefined : suspendedFailure(suspension);
}

async function endOf(dependencies: WithdrawnProbesDependencies, id: string, failures: Failures): Promise<void> {
  const { redis, clock, screenshots, counters } = dependencies;
  const record = await readKept(redis, id);
  if (record === undefined || record.completedAt !== null) return;
  counters.probesWithdrawn += await completeUnanswered(dependencies, id, record, {
    probes: pendingProbes(record).filter((probe) => failures.has(probe)),
    nowMs: await clock.now(redis),
    makeResult: (probe, partial, finishedAtMs) => withdrawnResult(failures.get(probe)!, partial, finishedAtMs),
  });
  const { state, probe } = record.screenshot;
  const reason = probe === null ? undefined : failures.get(probe);
  if (state === 'pending' && probe !== null && reason !== undefined) await screenshots.passOn(id, probe, reason);
}

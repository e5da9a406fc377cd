import { randomBytes } from 'node:crypto';

import type { Job } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { ProbeDirectory } from '../probes/probe-directory.ts';
import { selectProbes } from '../probes/select-probes.ts';
import type { RedisClock } from '../redis/clock.ts';
import { within } from '../redis/connections.ts';
import { isStoreFault, onStore } from '../redis/store.ts';
import type { CheckTypes } from './check-types.ts';
import { removeCheck, settle, writeCheck } from './check-records.ts';
import { StoreUnavailable, type AcceptedRequest, type Checks } from './checks.ts';
import { errorResult } from './coordinator-results.ts';
import type { Counters } from './counters.ts';
import type { Deadlines } from './deadlines.ts';
import type { JobQueues } from './job-queues.ts';

export interface CreateCheckDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly directory: ProbeDirectory;
  readonly queues: JobQueues;
  readonly types: CheckTypes;
  readonly deadlines: Deadlines;
  readonly retentionMs: number;
  readonly counters: Counters;
}

/** A caller waits this long at most for what is removed again; without Redis the sweep does it at the deadline. */
const TAKE_BACK_MS = 200;

/**
 * Starts checks. The order is what the terminal guarantee rests on: deadline and record first, then the jobs. Whatever dies
 * in between, the sweep ends the check. All of it is sent at once, on one connection, on which Redis keeps the order; it is
 * promised when all of it is answered.
 */
export function createChecks(dependencies: CreateCheckDependencies): Checks['create'] {
  const { redis, clock, directory, types, counters } = dependencies;
  return (request) =>
    onStore(redis, async () => {
      const known = await directory.probes();
      const selection = selectProbes(known, {
        ...{ type: request.checkType.type, limit: request.limit },
        ...{ probes: request.probes, locations: request.locations },
        tieBreak: randomTieBreak(),
      });
      if (!selection.selected) {
        counters.checksRefused += 1;
        const { selected: _, ...refusal } = selection;
        return { created: false, ...refusal };
      }
      const id = randomBytes(16).toString('base64url');
      const createdAt = await clock.now(redis);
      types.remember(id, request.checkType);
      await start(dependencies, id, createdAt, request, selection);
      counters.checksCreated += 1;
      return { created: true, checkId: id, probes: [...selection.probes] };
    });
}

interface Chosen {
  readonly probes: readonly string[];
  /** Those of them that cannot take a job now, with the sentence that says why. */
  readonly offline: ReadonlyMap<string, string>;
}

async function start(
  { redis, queues, deadlines, retentionMs, counters }: CreateCheckDependencies,
  id: string,
  createdAt: number,
  { checkType, submittedHost, params }: AcceptedRequest,
  { probes, offline }: Chosen,
): Promise<void> {
  const type = checkType.type;
  const deadlineAt = createdAt + Math.ceil(checkType.budgetMs(params));
  const written = writeCheck(redis, { id, type, host: submittedHost, createdAt, deadlineAt, probes }, retentionMs);
  const job: Job = { v: 1, checkId: id, type, params, deadlineAt };
  const online = probes.filter((probe) => !offline.has(probe));
  const [recorded, ...added] = await Promise.allSettled([written, ...online.map((probe) => queues.add(probe, job))]);
  const refusals = added.flatMap((outcome, index) =>
    outcome.status === 'rejected' ? [{ probe: online[index]!, error: outcome.reason as unknown }] : [],
  );
  try {
    if (recorded.status === 'rejected') throw recorded.reason;
    const fault = refusals.find(({ error }) => isStoreFault(error));
    if (fault !== undefined) throw fault.error;
    // What is left are probes whose own keys are broken, which their agents can write: it is their share alone that ends.
    const failed = refusals.map(({ probe }) =>
      without(probe, 'internal_error', 'The queue of the probe is broken.', createdAt),
    );
    const absent = [...offline].map(([probe, why]) => without(probe, 'probe_offline', why, createdAt));
    if (failed.length + absent.length > 0) {
      await settle(redis, id, [...failed, ...absent], { retentionMs, deadlines });
    }
    counters.probesOffline += absent.length;
  } catch (error) {
    await within(takeBack(redis, queues, id, online), TAKE_BACK_MS);
    throw new StoreUnavailable('The check could not be enqueued', { cause: error });
  }
}

function without(
  probe: string,
  code: 'internal_error' | 'probe_offline',
  why: string,
  atMs: number,
): readonly [string, string] {
  return [probe, JSON.stringify(errorResult(code, why, atMs))];
}

/** Removes what a refused check left. Where Redis does not take that either, the sweep does it at the deadline. */
async function takeBack(redis: Redis, queues: JobQueues, id: string, probes: readonly string[]): Promise<void> {
  await Promise.allSettled([...probes.map((probe) => queues.removeWaiting(redis, probe, id)), removeCheck(redis, id)]);
}

/** An order among equals that differs from check to check, so that idle probes take turns. */
function randomTieBreak(): (probe: string) => number {
  const drawn = new Map<string, number>();
  return (probe) => {
    const value = drawn.get(probe) ?? Math.random();
    drawn.set(probe, value);
    return value;
  };
}

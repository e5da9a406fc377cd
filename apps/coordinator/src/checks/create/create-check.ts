import { redisKeys } from '@vantage/contract';
import { isCluster } from '@vantage/redis-connections';
import type { Tracing } from '@vantage/telemetry';

import type { ProbeDirectory } from '../../probes/registry/probe-directory.ts';
import { createProbeSelector } from '../../probes/selection/select-probes.ts';
import { QueuesFull } from '../../redis/store-errors.ts';
import { onStore } from '../../redis/store.ts';
import type { CheckMetrics } from '../check-metrics.ts';
import type { AcceptedRequest, Checks, SelectedCheck, StartOptions, Unselected } from '../checks.ts';
import type { CheckScreenshots } from '../screenshots/screenshots.ts';
import { chooseProbes, type ChooseDependencies, type ChosenCheck } from './choose-probes.ts';
import { NotGranted } from './enqueue-check.ts';
import { findStarted } from './find-started.ts';
import type { ProbeCapacity } from './probe-capacity.ts';
import { startInTime, type StartDependencies } from './start-check.ts';

export interface CreateCheckDependencies extends StartDependencies, Omit<ChooseDependencies, 'selector'> {
  readonly directory: Pick<ProbeDirectory, 'probes' | 'isEmptied' | 'noteActive'>;
  readonly load: ProbeCapacity;
  readonly screenshots: Pick<CheckScreenshots, 'plan' | 'passOn'>;
  readonly tracing: Tracing;
  readonly metrics?: Pick<CheckMetrics, 'created'> | undefined;
}

/**
 * Creates checks. A check is accepted after Redis has replied to its writes; a broken queue of one probe fails only the
 * result of that probe.
 */
export function createChecks(dependencies: CreateCheckDependencies): Pick<Checks, 'select' | 'create'> {
  const { redis, counters, metrics } = dependencies;
  const withSelector = { ...dependencies, selector: createProbeSelector() };
  const refused = <T extends Unselected | QueuesFull>(refusal: T): T => {
    counters.checksRefused += 1;
    return refusal;
  };
  return {
    select: async (request) => {
      const selected = await selectCheck(withSelector, request).catch(orQueuesFull);
      if (selected instanceof QueuesFull) throw refused(selected);
      return selected.created === false ? refused(selected) : selected;
    },
    create: async (request, client, id) => {
      const startedAt = performance.now();
      const selected = await selectCheck(withSelector, request, id).catch(orQueuesFull);
      if (!(selected instanceof QueuesFull) && selected.created === undefined) {
        // Not undefined, because no rate limit applies.
        return (await selected.start({ client }))!;
      }
      // A check that another coordinator started is not refused, although its probes may be gone or full now.
      const found = id === undefined ? undefined : await onStore(redis, () => findStarted(redis, id));
      if (found !== undefined) {
        metrics?.created(request.checkType.type, found.probes.length, performance.now() - startedAt);
        return found;
      }
      if (selected instanceof QueuesFull) throw refused(selected);
      return refused(selected);
    },
  };
}

function orQueuesFull(error: unknown): QueuesFull {
  if (error instanceof QueuesFull) return error;
  throw error;
}

/** Selects the probes in a span that ends when the check has started, or when it is certain that it will not. */
async function selectCheck(
  dependencies: CreateCheckDependencies & ChooseDependencies,
  request: AcceptedRequest,
  givenId?: string,
): Promise<SelectedCheck | Unselected> {
  const { redis, tracing, metrics } = dependencies;
  const { type } = request.checkType;
  const startedAt = performance.now();
  const span = tracing.start('create check', { attributes: { 'vantage.check.type': type } });
  const inSpan = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await span.run(() => onStore(redis, run));
    } catch (error) {
      span.fail(Error.isError(error) ? error.name : 'unknown');
      span.end();
      throw error;
    }
  };
  const chosen = await inSpan(() => chooseProbes(dependencies, request, givenId));
  if (!('id' in chosen)) {
    span.end();
    return chosen;
  }
  const { id: checkId, probes, offline, busy, emptyLocations } = chosen;
  const grant = isCluster(redis) ? undefined : redisKeys.checkGrant(checkId);
  return {
    created: undefined,
    checkId,
    probes,
    grant,
    start: async (options = {}) => {
      const isStarted = await inSpan(() => admitAndStart(dependencies, request, { ...chosen, grant }, options));
      if (isStarted) {
        span.set({ 'vantage.check.id': checkId, 'vantage.check.probes': probes.length });
        metrics?.created(type, probes.length, performance.now() - startedAt);
      }
      span.end();
      const empty = emptyLocations === undefined ? {} : { emptyLocations };
      return isStarted
        ? { created: true, checkId, probes: [...probes], withoutJob: offline.size + busy.length, ...empty }
        : undefined;
    },
  };
}

/**
 * Starts a check if the rate limits admit it. On a single server, the start may be pipelined behind the rate-limit
 * command: Redis runs that one first, and the start has no effect unless the rate-limit script has written the grant.
 *
 * @returns false if the check is not admitted
 */
async function admitAndStart(
  dependencies: StartDependencies,
  request: AcceptedRequest,
  { id, grant, ...chosen }: ChosenCheck,
  { admission, client, first }: StartOptions,
): Promise<boolean> {
  const start = (needed?: string): Promise<void> =>
    startInTime(dependencies, id, request, { ...chosen, client, first, grant: needed });
  let early: Promise<boolean> | undefined;
  if (grant !== undefined && (await admission?.isLikely) === true) {
    early = start(grant).then(
      () => true,
      (error: unknown) => (error instanceof NotGranted ? false : Promise.reject(error as Error)),
    );
    // Prevents an unhandled rejection: if the check is not admitted, the promise is not awaited below.
    early.catch(() => undefined);
  }
  if (admission !== undefined && !(await admission.isAdmitted)) return false;
  // The check has not started if nothing was pipelined, or if the pipelined start found no grant.
  if ((await early) !== true) await start();
  dependencies.counters.checksCreated += 1;
  return true;
}

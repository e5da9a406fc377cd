import { createHash } from 'node:crypto';

import { redisKeys } from '@vantage/contract';
import { isCluster } from '@vantage/redis-connections';
import type { Tracing } from '@vantage/telemetry';
import type { Redis } from 'ioredis';

import { NO_ACCESS } from '../../probes/enrolment/agent-access.ts';
import type { ProbeDirectory } from '../../probes/registry/probe-directory.ts';
import type { KnownProbe } from '../../probes/registry/probe-status.ts';
import { createProbeSelector, type ProbeSelector, type Selection } from '../../probes/selection/select-probes.ts';
import type { WriteWatch } from '../../redis/server-state/write-watch.ts';
import { QueuesFull, RecordsLost } from '../../redis/store-errors.ts';
import { onStore } from '../../redis/store.ts';
import type { CheckMetrics } from '../check-metrics.ts';
import type { AcceptedRequest, AdmitCheck, Checks, Creation } from '../checks.ts';
import type { CheckScreenshots } from '../screenshots/screenshots.ts';
import type { CheckTypes } from '../store/check-type-cache.ts';
import { drawId } from './draw-id.ts';
import { NotGranted } from './enqueue-check.ts';
import { findStarted } from './find-started.ts';
import type { ProbeCapacity } from './probe-capacity.ts';
import { startInTime, type StartDependencies } from './start-check.ts';

export interface CreateCheckDependencies extends StartDependencies {
  readonly directory: Pick<ProbeDirectory, 'probes' | 'isEmptied' | 'noteActive'>;
  readonly types: CheckTypes;
  readonly load: ProbeCapacity;
  readonly writes: Pick<WriteWatch, 'requireWrites'>;
  readonly screenshots: Pick<CheckScreenshots, 'plan' | 'passOn'>;
  readonly tracing: Tracing;
  readonly metrics?: Pick<CheckMetrics, 'created'> | undefined;
}

/**
 * Creates checks. A check is accepted after Redis has replied to its writes; a broken queue of one probe fails only the
 * result of that probe.
 */
export function createChecks(dependencies: CreateCheckDependencies): Checks['create'] {
  const { redis, tracing, metrics } = dependencies;
  const selector = createProbeSelector();
  return (request, admit, client, id, first) => {
    const { type } = request.checkType;
    return tracing.around('create check', { attributes: { 'vantage.check.type': type } }, async (span) => {
      const startedAt = performance.now();
      const creation = await onStore(redis, () =>
        createOrFind({ ...dependencies, selector }, request, { admit, client, id, first }),
      );
      if (!creation.created) return creation;
      span.set({ 'vantage.check.id': creation.checkId, 'vantage.check.probes': creation.probes.length });
      metrics?.created(type, creation.probes.length, performance.now() - startedAt);
      return creation;
    });
  };
}

type WithSelector = CreateCheckDependencies & { readonly selector: ProbeSelector };

interface Asked {
  readonly admit: AdmitCheck | undefined;
  readonly client: string | undefined;
  readonly id: string | undefined;
  readonly first: string | undefined;
}

/** A check that another coordinator started is not refused, although its probes may be gone or have no capacity now. */
async function createOrFind(dependencies: WithSelector, request: AcceptedRequest, asked: Asked): Promise<Creation> {
  const outcome = await createCheck(dependencies, request, asked).catch((error: unknown) => {
    if (error instanceof QueuesFull) return error;
    throw error;
  });
  const isFull = outcome instanceof QueuesFull;
  if (!isFull && (outcome.created || outcome.reason === 'not-admitted')) return outcome;
  const found = asked.id === undefined ? undefined : await findStarted(dependencies.redis, asked.id);
  if (found !== undefined) return found;
  dependencies.counters.checksRefused += 1;
  if (isFull) throw outcome;
  return outcome;
}

async function createCheck(
  dependencies: WithSelector,
  request: AcceptedRequest,
  { admit, client, id: givenId, first }: Asked,
): Promise<Creation> {
  const { directory, types, counters, screenshots, writes } = dependencies;
  // Checked before the selection: while Redis refuses writes, it refuses heartbeats too, so that every probe would look
  // offline.
  writes.requireWrites();
  const known = await directory.probes();
  // Checked before the selection: a named probe may be unknown only because Redis lost the records of all probes.
  if (directory.isEmptied()) throw new RecordsLost('Redis has the record of no probe any more.');
  const { selection, busy } = selectWithCapacity(dependencies, known, request);
  if (!selection.selected) {
    const { selected: _, ...refusal } = selection;
    return { created: false, ...refusal };
  }
  const id = givenId ?? drawId();
  types.remember(id, request.checkType);
  const selected = dependencies.selector.find(known, selection.probes);
  const wanted = request.checkType.screenshot?.(request.params);
  const free = selected.filter(({ record }) => !busy.includes(record.id));
  const screenshot = wanted === undefined ? undefined : screenshots.plan(wanted, free, selection.probes);
  const once = givenId !== undefined;
  const atGateways = selected.filter(mayBeAtGateway).map(({ record }) => record.id);
  const emptyLocations = [...(request.unknownLocations ?? []), ...(selection.emptyLocations ?? [])];
  const empty = emptyLocations.length === 0 ? {} : { emptyLocations };
  const chosen = { ...selection, ...empty, busy, atGateways, screenshot, client, first, once };
  const startNow = (grant?: string): Promise<void> => startInTime(dependencies, id, request, { ...chosen, grant });
  if (!(await admitAndStart(dependencies.redis, id, admit, chosen.probes.length, startNow))) {
    return { created: false, reason: 'not-admitted' };
  }
  counters.checksCreated += 1;
  const { probes, offline } = selection;
  return { created: true, checkId: id, probes: [...probes], withoutJob: offline.size + busy.length, ...empty };
}

/**
 * Starts a check if the rate limits admit it. On a single server, the start may be pipelined behind the rate-limit
 * command: Redis runs that one first, and the start has no effect unless the rate-limit script has written the grant.
 *
 * @returns false if the check is not admitted
 */
async function admitAndStart(
  redis: Redis,
  id: string,
  admit: AdmitCheck | undefined,
  probes: number,
  start: (grant?: string) => Promise<void>,
): Promise<boolean> {
  const early: { started?: Promise<boolean> } = {};
  const grant = redisKeys.checkGrant(id);
  const onLikely = (): void => {
    early.started = start(grant).then(
      () => true,
      (error: unknown) => (error instanceof NotGranted ? false : Promise.reject(error as Error)),
    );
    // Prevents an unhandled rejection: if the check is not admitted, the promise is not awaited below.
    early.started.catch(() => undefined);
  };
  if (admit !== undefined && !(await admit(probes, isCluster(redis) ? undefined : { grant, onLikely }))) return false;
  // The check has not started if nothing was pipelined, or if the pipelined start found no grant.
  if ((await early.started) !== true) await start();
  return true;
}

interface WithCapacity {
  readonly selection: Selection;
  /** Named probes that are online and have no capacity. */
  readonly busy: readonly string[];
}

/**
 * Selects among probes with capacity. Probes that the client named are all selected, if one of them, or of those that
 * are `needed`, has capacity.
 *
 * @throws QueuesFull if no probe has capacity
 */
function selectWithCapacity(
  { load, selector }: WithSelector,
  known: readonly KnownProbe[],
  { checkType: { type }, limit, probes, needed, locations, steadyBy }: AcceptedRequest,
): WithCapacity {
  // Equally good probes are ordered at random for each check, to spread the load. With `steadyBy`, a hash of that text
  // orders them and their load does not count, so that equal texts give the same order.
  const order =
    steadyBy === undefined ? { tieBreak: 'random' as const } : { tieBreak: rankBy(steadyBy), ignoresLoad: true };
  const asked = { type, limit, probes, locations, ...order };
  const selection = selector.select(known, asked);
  if (!selection.selected) return { selection, busy: [] };
  const online = selector.find(known, selection.probes).filter(({ record }) => !selection.offline.has(record.id));
  const busy = online.filter((probe) => !load.hasCapacity(probe, type)).map(({ record }) => record.id);
  if (busy.length === 0 && needed === undefined) return { selection, busy };
  const isNeeded = ({ record: { id } }: KnownProbe): boolean => needed === undefined || needed.includes(id);
  if (probes !== undefined && online.some((probe) => isNeeded(probe) && !busy.includes(probe.record.id))) {
    return { selection, busy };
  }
  if (probes === undefined) {
    const others = selector.select(known, { ...asked, isEligible: (probe) => load.hasCapacity(probe, type) });
    if (others.selected) return { selection: others, busy: [] };
  }
  throw new QueuesFull(`The probes have as many ${type} checks to do as they can end on time.`);
}

/** Returns a function that ranks probes pseudo-randomly, with the same ranks for the same text. */
function rankBy(text: string): (probe: string) => number {
  return (probe) => createHash('sha256').update(`${text}\n${probe}`).digest().readUInt32BE();
}

/** True unless the probe's agent writes its heartbeat to Redis itself and has no access to gateways. */
function mayBeAtGateway({ heartbeat, access = NO_ACCESS }: KnownProbe): boolean {
  return heartbeat === undefined || heartbeat.gateway !== undefined || access.state !== 'none';
}

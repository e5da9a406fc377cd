import { SCREENSHOT_BUDGET_MS } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Checks } from '../../checks/checks.ts';
import type { RedisClock } from '../../redis/clock.ts';
import type { Log } from '../../redis/log.ts';
import { onStore } from '../../redis/store.ts';
import { QueuesFull, StoreUnavailable } from '../../redis/store-errors.ts';
import {
  nextTickAfter,
  tickAfterMissed,
  type DefinitionReading,
  type MonitorDefinition,
  type ReadDefinition,
  type StoredMonitor,
} from '../definition.ts';
import { createFromRest } from './create-from-rest.ts';
import {
  claimTicks,
  confirmTick,
  LEASE_MS,
  postponeTicks,
  type Claim,
  type Claimed,
  type ClaimedTick,
  type OpenTick,
} from '../store/tick-records.ts';

/** Maximum number of ticks claimed at once. */
const AT_ONCE = 50;
/** Largest random part of the wait for a tick, so that coordinators do not poll at the same moment. */
const SPREAD_MS = 80;
/** If the coordinator that started a check has not evaluated it this long after its budget, another one does. */
const EVALUATED_WITHIN_MS = 3_000;

export interface TickDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly create: Checks['create'];
  readonly drawId: () => string;
  readonly readStored: ReadStored;
  /** Called with the name of a monitor whose tick was started, or skipped with a reason. */
  readonly onStarted: (name: string) => void;
  readonly observe: (lateMs: number) => void;
  /** Poll interval while no tick is due. */
  readonly pollIntervalMs: number;
  readonly log: Log;
}

/** Limit of cached definitions. */
export const MOST_KNOWN = 10_000;

/** @param stored JSON of a `StoredMonitor` */
export type ReadStored = (name: string, stored: string) => DefinitionReading;

/** Parses definitions from Redis; unchanged ones are cached. */
export function createReadStored(readDefinition: ReadDefinition): ReadStored {
  const known = new Map<string, { readonly stored: string; readonly reading: DefinitionReading }>();
  return (name, stored) => {
    const before = known.get(name);
    if (before?.stored === stored) return before.reading;
    const { request, allow } = JSON.parse(stored) as StoredMonitor;
    const reading = readDefinition(name, request, allow);
    // Otherwise removed monitors would stay cached.
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(name, { stored, reading });
    return reading;
  };
}

/**
 * Claims the ticks that are due, starts the check of each, and postpones those that were missed.
 *
 * @returns a function that does so once, and resolves with the milliseconds until the next tick; `again` if more ticks
 *   may be due now, undefined if none is due within `pollIntervalMs`
 */
export function createTicks(dependencies: TickDependencies): () => Promise<'again' | number | undefined> {
  const { redis, drawId, pollIntervalMs } = dependencies;
  return async () => {
    const ids = Array.from({ length: AT_ONCE }, drawId);
    const sentAt = performance.now();
    const polled = await onStore(redis, () => claimTicks(redis, ids));
    const { nowMs, nextMs, claimed, missed } = polled;
    await Promise.all([postpone(dependencies, polled), ...claimed.map((tick) => startTick(dependencies, tick))]);
    if (claimed.length + missed.length === AT_ONCE) return 'again';
    const waitMs = (nextMs ?? Number.POSITIVE_INFINITY) - nowMs - (performance.now() - sentAt);
    return waitMs < pollIntervalMs ? Math.max(0, waitMs) + SPREAD_MS * Math.random() : undefined;
  };
}

/** Postpones missed ticks. If it fails, the next poll of any coordinator finds them missed again. */
async function postpone({ redis, readStored, log }: TickDependencies, { nowMs, missed }: Claimed): Promise<void> {
  if (missed.length === 0) return;
  const times = missed.map((tick) => {
    const { name, stored } = tick;
    return [tick, tickAfterMissed(nowMs, { name, everyMs: intervalOf(readStored(name, stored)) })] as const;
  });
  await onStore(redis, () => postponeTicks(redis, times));
  log.warn({ monitors: missed.length }, 'ticks of monitors were missed');
}

function intervalOf(reading: DefinitionReading): number {
  return reading.valid ? reading.definition.everyMs : 60_000;
}

/**
 * Starts the check of a tick, or records why it is skipped. Never rejects: if neither succeeds, the tick is claimed
 * again after its lease.
 */
async function startTick(dependencies: TickDependencies, tick: ClaimedTick): Promise<void> {
  const { redis, clock, readStored, onStarted, observe, log } = dependencies;
  const { name, stored } = tick;
  try {
    const reading = readStored(name, stored);
    const claim = JSON.parse(tick.claim) as Claim;
    const open = await openTick(dependencies, name, claim, reading);
    if (open === undefined) return;
    const nowMs = await clock.now(redis);
    const nextMs = nextTickAfter(claim.atMs, nowMs, { name, everyMs: intervalOf(reading) });
    const pollMs = nowMs + open.budgetMs + EVALUATED_WITHIN_MS;
    if (!(await onStore(redis, () => confirmTick(redis, tick, open, { nextMs, pollMs })))) return;
    if (open.startedMs !== null) observe(Math.max(0, open.startedMs - claim.atMs));
    onStarted(name);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) log.error({ monitor: name, error }, 'tick of a monitor failed');
  }
}

/** @returns undefined if the tick is to be tried again */
async function openTick(
  { redis, clock, create, log }: TickDependencies,
  name: string,
  { tick, checkId, atMs }: Claim,
  reading: DefinitionReading,
): Promise<OpenTick | undefined> {
  const skipped = (reason: string): OpenTick => ({ tick, atMs, checkId: null, startedMs: null, reason, budgetMs: 0 });
  if (!reading.valid) {
    const text = reading.errors.map(({ path, message }) => `${path} ${message}`).join('; ');
    return skipped(`The definition is not valid here: ${text}`.slice(0, 1_024));
  }
  const { accepted, everyMs } = reading.definition;
  try {
    const { outcome, removed, emptyLocations } = await createFromRest(
      (selecting) => create({ ...accepted, ...selecting, steadyBy: name }, 'monitors', checkId),
      accepted,
    );
    if (!outcome.created) return skipped(outcome.reason.slice(0, 1_024));
    const startedMs = await clock.now(redis);
    const budgetMs = budgetOf(reading.definition);
    const left = {
      ...(removed.length === 0 ? {} : { removed }),
      ...(emptyLocations.length === 0 ? {} : { emptyLocations }),
    };
    return { tick, atMs, checkId, startedMs, reason: null, budgetMs, ...left };
  } catch (error) {
    if (!(error instanceof QueuesFull) && !(error instanceof StoreUnavailable)) throw error;
    const nowMs = await clock.now(redis);
    log.warn({ monitor: name, tick, error }, 'check of a monitor could not be started');
    return nowMs > atMs + everyMs - LEASE_MS ? skipped(error.message.slice(0, 1_024)) : undefined;
  }
}

/** Time that the check of a monitor may take, milliseconds; a screenshot adds to it. */
function budgetOf({ accepted: { checkType, params } }: MonitorDefinition): number {
  const ofScreenshot = checkType.screenshot?.(params) === undefined ? 0 : SCREENSHOT_BUDGET_MS;
  return Math.ceil(checkType.budgetMs(params)) + ofScreenshot;
}

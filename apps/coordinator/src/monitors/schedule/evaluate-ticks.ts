import type { Check } from '@vantage/contract';
import type { ProbeFacts } from '@vantage/summary';
import type { Redis } from 'ioredis';

import type { Checks } from '../../checks/checks.ts';
import { deriveId } from '../../checks/create/draw-id.ts';
import type { RedisClock } from '../../redis/clock.ts';
import { isStoreFault, onStore } from '../../redis/store.ts';
import { CheckEvicted } from '../../redis/store-errors.ts';
import { readAlarm, type MonitorDefinition, type StoredMonitor } from '../definition.ts';
import { digestOf } from '../webhooks/message.ts';
import { describeEvent } from '../state/describe-events.ts';
import { evaluateRun } from '../state/evaluate-run.ts';
import { claimOpen, commitRun, readOpen } from '../store/run-records.ts';
import { LEASE_MS, type OpenTick } from '../store/tick-records.ts';
import { pathsOfTick } from './paths-of-tick.ts';
import type { MonitorState, ReducedEvent } from '../state/monitor-state.ts';
import { reduce } from '../state/reduce.ts';
import type { ReadStored } from './run-ticks.ts';
import { startTrace, type TraceDependencies } from './start-trace.ts';

/** Maximum number of monitors whose open ticks are claimed at once. */
const AT_ONCE = 50;
const READ_MS = 20_000;
/** Time after the budget of a check for which a coordinator with an invalid definition leaves its tick to others. */
const LEFT_MS = 60_000;
const NOT_VALID = 'The definition is not valid at any coordinator that could evaluate the tick.';

export interface EvaluationDependencies extends TraceDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly read: Checks['read'];
  readonly readStored: ReadStored;
  readonly factsOfProbes: () => Promise<ReadonlyMap<string, ProbeFacts>>;
  readonly drawId: () => string;
  /** Called when a task was written to the outbox. */
  readonly onTask: () => void;
  readonly stopping: AbortSignal;
}

export interface Evaluations {
  /** Starts to evaluate the open ticks of a monitor in their order, each when its check is completed. */
  readonly follow: (name: string) => void;
  /** Evaluates open ticks that any coordinator may take over now; `again` if there may be more. */
  readonly takeOver: () => Promise<'again' | undefined>;
  /** Resolves when no evaluation is in progress. */
  readonly settled: () => Promise<void>;
}

export function createEvaluations(dependencies: EvaluationDependencies): Evaluations {
  const { redis, stopping, log } = dependencies;
  const underWay = new Map<string, Promise<void>>();
  /** Monitors to follow again when the evaluation in progress has ended. */
  const again = new Set<string>();

  const followAll = async (name: string): Promise<void> => {
    try {
      while (!stopping.aborted && (await onStore(redis, () => evaluateNext(dependencies, name))));
    } catch (error) {
      if (!isStoreFault(error)) log.error({ monitor: name, error }, 'tick of a monitor could not be evaluated');
    }
    underWay.delete(name);
    if (again.delete(name) && !stopping.aborted) follow(name);
  };
  const follow = (name: string): void => {
    if (underWay.has(name)) again.add(name);
    else underWay.set(name, followAll(name));
  };
  return {
    follow,
    takeOver: async () => {
      const names = await onStore(redis, () => claimOpen(redis, AT_ONCE));
      names.forEach(follow);
      return names.length === AT_ONCE ? 'again' : undefined;
    },
    settled: async () => void (await Promise.all(underWay.values())),
  };
}

/** @returns true if there may be more to evaluate */
async function evaluateNext(dependencies: EvaluationDependencies, name: string): Promise<boolean> {
  const { redis, clock, readStored, factsOfProbes, onTask, stopping, drawId, log } = dependencies;
  const next = await readOpen(redis, name);
  if (next === undefined) return false;
  const reading = readStored(name, next.stored);
  const stored = JSON.parse(next.stored) as StoredMonitor;
  const { budgetMs, ...opened } = JSON.parse(next.open) as OpenTick;
  if (!reading.valid && isLeftToOthers(opened, (await clock.now(redis)) - budgetMs)) return false;
  const started = reading.valid || opened.checkId === null ? opened : { ...opened, reason: NOT_VALID };
  const checkId = reading.valid ? started.checkId : null;
  const check = checkId === null ? undefined : await readCompleted(dependencies, checkId);
  if (check === 'pending') return !stopping.aborted;

  const definition = reading.valid ? reading.definition : withoutReading(stored);
  const { run, outcome } = evaluateRun(started, check, definition, await factsOfProbes());
  const before = next.state === '' ? undefined : (JSON.parse(next.state) as MonitorState);
  const { state, events } = reduce(before, outcome, definition.rule);
  const nowMs = await clock.now(redis);
  const change = events.find(({ kind }) => kind === 'state');
  const turned = change?.to === 'bad' && reading.valid;
  // Started before the change is written, which names it. If another coordinator writes the change, it names the same.
  const idOfTrace = deriveId(`trace ${name} ${next.open}`);
  const traceId = turned ? await startTrace(dependencies, reading.definition, state, stored.allow, idOfTrace) : null;
  const facts = { monitor: name, checkId: run.checkId, tracerouteId: traceId };
  const described = events.map((event) => describeEvent(event, state, facts));
  const paths = await pathsOfTick(dependencies, check, before, reading, { ...facts, ...state });
  if (paths.event !== undefined) described.push(paths.event);
  // A change of state that is not reported is stored as an event, but causes no message.
  const [event, other] = described.filter(
    ({ kind }) => kind === 'path' || (kind === 'state' && isReported(change, before)),
  );
  const webhooks = stored.request.webhooks?.map(digestOf) ?? [];
  const needsTask = event !== undefined && (traceId !== null || webhooks.length > 0);
  const messageIdOf = (): string => `msg_${drawId()}`;
  const further = other === undefined ? undefined : { messageId: messageIdOf(), event: other };
  const common = { kind: 'change' as const, monitor: name, atMs: nowMs, traceId, webhooks };
  const task = needsTask ? { ...common, messageId: messageIdOf(), event, further } : undefined;
  const isOurs = await commitRun(redis, name, next, {
    state: {
      ...state,
      ...(turned ? { traceId } : {}),
      ...paths.state,
      emptyLocations: run.emptyLocations,
    },
    run,
    task,
    pollMs: nowMs + LEASE_MS + budgetMs,
    events: described,
    pathChange: paths.entry,
  });
  if (isOurs && task !== undefined) onTask();
  if (isOurs && change !== undefined) {
    log.info({ monitor: name, from: change.from, to: change.to, tick: state.tick }, 'monitor changed its state');
  }
  return true;
}

/**
 * True for every change of state except that from unknown to ok at the first tick of a monitor, or of a new definition
 * of one that was ok.
 */
function isReported(change: ReducedEvent | undefined, before: MonitorState | undefined): boolean {
  return change !== undefined && !(before === undefined && change.to === 'ok');
}

/**
 * For a coordinator whose settings make the definition invalid: true while another one is given time (`LEFT_MS`) to
 * evaluate the tick. The coordinator that started the check can do so, unless it has ended.
 *
 * @param nowMs the present time less the time budget of the check
 */
function isLeftToOthers({ checkId, atMs }: Pick<OpenTick, 'checkId' | 'atMs'>, nowMs: number): boolean {
  return checkId !== null && nowMs - atMs < LEFT_MS;
}

/** For a definition that is not valid with the settings of this coordinator: the rule alone, without expectations. */
function withoutReading({ request }: StoredMonitor): Pick<MonitorDefinition, 'expectation' | 'rule'> {
  return { expectation: {}, rule: readAlarm(request.alarm ?? {}) ?? readAlarm({})! };
}

/**
 * @returns the completed check; `pending` if it is not completed within `READ_MS`; undefined if the results are gone
 */
async function readCompleted(
  { read, stopping }: EvaluationDependencies,
  id: string,
): Promise<Check | 'pending' | undefined> {
  try {
    const check = await read(id, READ_MS, stopping);
    return check === undefined || check.status === 'completed' ? check : 'pending';
  } catch (error) {
    if (error instanceof CheckEvicted) return undefined;
    throw error;
  }
}

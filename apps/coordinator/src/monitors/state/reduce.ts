import type { Agreement, MonitorStateName, RunAtProbe } from '@vantage/contract';

import { fewestOf, type AlarmRule } from '../definition.ts';
import { isFlapping, REMEMBERED_TICKS } from './flapping.ts';
import type {
  EvaluatedState,
  MonitorState,
  ProbeMemory,
  ProbePlace,
  ReducedEvent,
  TickOutcome,
} from './monitor-state.ts';

/**
 * The state of a monitor after one more tick. Pure: independent of the time of day and of the coordinator.
 *
 * @param state of the tick before; undefined at the first
 */
export function reduce(
  state: MonitorState | undefined,
  outcome: TickOutcome,
  rule: AlarmRule,
): { readonly state: EvaluatedState; readonly events: readonly ReducedEvent[] } {
  const { tick, atMs, headline } = outcome;
  const before = new Map(Object.entries(state?.probes ?? {}));
  const measured = Object.entries(outcome.probes).map(
    ([probe, result]) => [probe, remember(before.get(probe), result, outcome)] as const,
  );
  const names = new Set(measured.map(([probe]) => probe));
  // A probe that is not selected keeps its history for `REMEMBERED_TICKS`.
  const absent = [...before].filter(([probe, memory]) => !names.has(probe) && tick - memory.tick <= REMEMBERED_TICKS);
  const counted = countedOf(
    measured.map(([, memory]) => memory),
    rule,
  );
  const agreement = agree(counted, rule);
  const current = { state: state?.state ?? 'unknown', sinceMs: state?.sinceMs ?? atMs };
  const alarmSinceMs = state?.alarmSinceMs ?? (current.state === 'bad' ? current.sinceMs : null);
  const turn = turnTo(conditionOf(agreement, counted, rule), current.state, { ...state, alarmSinceMs }, rule);
  const changed = turn.state !== current.state;
  return {
    state: {
      tick,
      atMs,
      headline,
      agreement,
      turning: turn.turning,
      suspended: turn.suspended,
      state: turn.state,
      sinceMs: changed ? atMs : current.sinceMs,
      alarmSinceMs: turn.state === 'ok' ? null : (alarmSinceMs ?? (turn.state === 'bad' ? atMs : null)),
      traceId: turn.state === 'bad' ? (state?.traceId ?? null) : null,
      probes: Object.fromEntries([...measured, ...absent]),
    },
    events: [
      ...measured.flatMap(([probe, { state: to }]) => {
        const from = before.get(probe)?.state ?? to;
        return from === to ? [] : [{ kind: 'probe' as const, tick, atMs, probe, from, to }];
      }),
      ...(changed ? [{ kind: 'state' as const, tick, atMs, from: current.state, to: turn.state }] : []),
    ],
  };
}

function remember(
  before: ProbeMemory | undefined,
  result: RunAtProbe & ProbePlace,
  { tick, atMs }: TickOutcome,
): ProbeMemory {
  const letter = { ok: 'o', failing: 'f', unmeasured: '' }[result.state];
  const history = ((before?.history ?? '') + letter).slice(-REMEMBERED_TICKS);
  return {
    ...result,
    tick,
    history,
    measuredTick: result.state === 'unmeasured' ? before?.measuredTick : tick,
    sinceMs: before?.state === result.state ? before.sinceMs : atMs,
    flapping: isFlapping(history, before?.flapping ?? false),
  };
}

/**
 * Probes that count: those that measured and do not flap. If fewer than `fewestOf` steady probes have measured within
 * `REMEMBERED_TICKS`, flapping ones count too, because the target itself may flap. A shorter pause of the steady probes
 * does not make flapping ones count.
 */
function countedOf(probes: readonly ProbeMemory[], rule: AlarmRule): readonly ProbeMemory[] {
  const steady = probes.filter(({ flapping }) => !flapping);
  const known = steady.filter(
    ({ tick, measuredTick }) => measuredTick !== undefined && tick - measuredTick <= REMEMBERED_TICKS,
  );
  const isTargets = known.length < fewestOf(rule);
  return (isTargets ? probes : steady).filter(({ state }) => state !== 'unmeasured');
}

/** Counts the failing probes, and how many must fail for an alarm. */
function agree(counted: readonly ProbeMemory[], rule: AlarmRule): Agreement {
  const failing = counted.filter(({ state }) => state === 'failing');
  const share = Math.ceil((counted.length * rule.failing) / rule.of);
  return {
    failing: failing.length,
    counted: counted.length,
    needed: Math.max(fewestOf(rule), share),
    networks: differentOf(failing, 'network'),
    countries: differentOf(failing, 'country'),
  };
}

/**
 * Number of different known networks or countries, at least one if there are any probes. Probes of unknown location,
 * such as removed ones, add none.
 */
function differentOf(probes: readonly ProbeMemory[], place: keyof ProbePlace): number {
  const known = new Set(probes.flatMap((probe) => probe[place] ?? [])).size;
  return Math.max(known, Math.min(probes.length, 1));
}

function conditionOf(
  { failing, needed, networks, countries }: Agreement,
  counted: readonly ProbeMemory[],
  rule: AlarmRule,
): MonitorStateName {
  if (counted.length < fewestOf(rule)) return 'unknown';
  if (failing < needed) return 'ok';
  if (networks >= rule.networks && countries >= rule.countries) return 'bad';
  // Enough probes fail, but in too few places: ok if the counted probes are in enough places, else unknown.
  const isSpread =
    differentOf(counted, 'network') >= rule.networks && differentOf(counted, 'country') >= rule.countries;
  return isSpread ? 'ok' : 'unknown';
}

function turnTo(
  condition: MonitorStateName,
  state: MonitorStateName,
  before: Partial<Pick<MonitorState, 'turning' | 'suspended' | 'alarmSinceMs'>>,
  rule: AlarmRule,
): Pick<MonitorState, 'state' | 'turning' | 'suspended'> {
  const [turning, suspended] = [before.turning ?? null, before.suspended ?? null];
  const isMeasured = condition !== 'unknown';
  const measured = turning === null || turning.to === 'unknown' ? suspended : turning;
  if (condition === state) return { state, turning: null, suspended: isMeasured ? null : measured };
  const last = isMeasured ? measured : turning;
  const ticks = last?.to === condition ? last.ticks + 1 : 1;
  // Without an alarm, a monitor turns from unknown to ok at once; every other change takes `rule.ticks` ticks.
  const isFirst = state === 'unknown' && (before.alarmSinceMs ?? null) === null;
  const needed = isFirst && condition === 'ok' ? 1 : rule.ticks;
  if (ticks < needed) return { state, turning: { to: condition, ticks }, suspended: isMeasured ? null : measured };
  return { state: condition, turning: null, suspended: null };
}

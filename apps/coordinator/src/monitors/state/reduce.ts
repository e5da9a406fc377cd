import type { Agreement, MonitorStateName, RunAtProbe } from '@vantage/contract';

import type { AlarmRule } from '../definition.ts';
import { isFlapping, REMEMBERED_TICKS } from './flapping.ts';

/** The results of a tick. */
export interface TickOutcome {
  readonly tick: number;
  /** When it was due, milliseconds since the epoch. */
  readonly atMs: number;
  readonly headline: string | null;
  readonly probes: Readonly<Record<string, RunAtProbe & ProbePlace>>;
}

export interface ProbePlace {
  readonly network: string | null;
  readonly country: string | null;
}

/** A probe of a monitor over time. */
export interface ProbeMemory extends RunAtProbe, ProbePlace {
  readonly sinceMs: number;
  /** Tick of its last result. */
  readonly tick: number;
  /** `o` and `f` for its last measured ticks, oldest first. */
  readonly history: string;
  readonly flapping: boolean;
}

export interface MonitorState {
  /** The last evaluated one. */
  readonly tick: number;
  readonly atMs: number;
  readonly state: MonitorStateName;
  readonly sinceMs: number;
  /** Ticks in a row that spoke for another state. */
  readonly turning: { readonly to: MonitorStateName; readonly ticks: number } | null;
  readonly agreement: Agreement;
  readonly headline: string | null;
  /** The traceroute of its turn to bad. */
  readonly traceId?: string | null;
  readonly probes: Readonly<Record<string, ProbeMemory>>;
}

export type MonitorEvent =
  | {
      readonly kind: 'state';
      readonly tick: number;
      readonly atMs: number;
      readonly from: MonitorStateName;
      readonly to: MonitorStateName;
    }
  | {
      readonly kind: 'probe';
      readonly tick: number;
      readonly atMs: number;
      readonly probe: string;
      readonly from: RunAtProbe['state'];
      readonly to: RunAtProbe['state'];
    };

/**
 * The state of a monitor after one more tick. Pure: independent of the time of day and of the coordinator.
 *
 * @param state of the tick before; undefined at the first
 */
export function reduce(
  state: MonitorState | undefined,
  outcome: TickOutcome,
  rule: AlarmRule,
): { readonly state: MonitorState; readonly events: readonly MonitorEvent[] } {
  const { tick, atMs, headline } = outcome;
  const before = new Map(Object.entries(state?.probes ?? {}));
  const measured = Object.entries(outcome.probes).map(
    ([probe, result]) => [probe, remember(before.get(probe), result, outcome)] as const,
  );
  const names = new Set(measured.map(([probe]) => probe));
  // A probe that was not selected keeps its history for a while.
  const absent = [...before].filter(([probe, memory]) => !names.has(probe) && tick - memory.tick <= REMEMBERED_TICKS);
  const agreement = agree(
    measured.map(([, memory]) => memory),
    rule,
  );
  const current = { state: state?.state ?? 'unknown', sinceMs: state?.sinceMs ?? atMs };
  const turn = turnTo(conditionOf(agreement, rule), current.state, state?.turning ?? null, rule);
  const changed = turn.state !== current.state;
  return {
    state: {
      ...{ tick, atMs, headline, agreement, turning: turn.turning },
      ...{ state: turn.state, sinceMs: changed ? atMs : current.sinceMs },
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
    ...{ tick, history },
    sinceMs: before?.state === result.state ? before.sinceMs : atMs,
    flapping: isFlapping(history, before?.flapping ?? false),
  };
}

/** How far probes agree. What could not be measured, and what flaps, speaks neither for nor against. */
function agree(probes: readonly ProbeMemory[], rule: AlarmRule): Agreement {
  const counted = probes.filter(({ state, flapping }) => state !== 'unmeasured' && !flapping);
  const failing = counted.filter(({ state }) => state === 'failing');
  const share = Math.ceil((counted.length * rule.failing) / rule.of);
  return {
    failing: failing.length,
    counted: counted.length,
    needed: Math.max(fewest(rule), share),
    networks: new Set(failing.flatMap(({ network }) => network ?? [])).size,
    countries: new Set(failing.flatMap(({ country }) => country ?? [])).size,
  };
}

/** One probe alone is no agreement unless the rule asks for one. */
function fewest({ failing }: AlarmRule): number {
  return Math.min(failing, 2);
}

function conditionOf({ failing, counted, needed, networks, countries }: Agreement, rule: AlarmRule): MonitorStateName {
  if (counted < fewest(rule)) return 'unknown';
  const agrees = failing >= needed && networks >= rule.networks && countries >= rule.countries;
  return agrees ? 'bad' : 'ok';
}

function turnTo(
  condition: MonitorStateName,
  state: MonitorStateName,
  turning: MonitorState['turning'],
  rule: AlarmRule,
): Pick<MonitorState, 'state' | 'turning'> {
  if (condition === state) return { state, turning: null };
  const ticks = turning?.to === condition ? turning.ticks + 1 : 1;
  // What was never measured is ok at once; an alarm always takes its ticks.
  const needed = state === 'unknown' && condition === 'ok' ? 1 : rule.ticks;
  return ticks >= needed ? { state: condition, turning: null } : { state, turning: { to: condition, ticks } };
}

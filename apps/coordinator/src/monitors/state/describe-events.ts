import type { MonitorEvent as PublicEvent } from '@vantage/contract';

import type { EvaluatedState, MonitorState, ReducedEvent } from './monitor-state.ts';

/** Facts for the events of a tick that the state does not have. */
export interface EventFacts {
  readonly monitor: string;
  readonly checkId: string | null;
  /** Id of the traceroute that a change to bad starts. */
  readonly tracerouteId: string | null;
}

/** An event as a client reads it. */
export function describeEvent(event: ReducedEvent, state: EvaluatedState, facts: EventFacts): PublicEvent {
  const { monitor, checkId, tracerouteId } = facts;
  const common = { monitor, tick: event.tick, at: new Date(event.atMs).toISOString(), checkId };
  if (event.kind === 'probe') {
    const { probe, from, to } = event;
    const reason = new Map(Object.entries(state.probes)).get(probe)?.reason ?? null;
    return { kind: 'probe', ...common, probe, from, to, reason };
  }
  const { from, to } = event;
  const { headline, agreement } = state;
  const failing = probesIn(state, 'failing');
  return { kind: 'state', ...common, from, to, headline, agreement, failing: [...failing], tracerouteId };
}

/** Probes of the last tick in a state, in alphabetical order; flapping ones are left out unless there are no others. */
export function probesIn(
  { probes, tick }: Pick<MonitorState, 'probes' | 'tick'>,
  state: 'ok' | 'failing',
): readonly string[] {
  const found = Object.entries(probes).filter(([, memory]) => memory.tick === tick && memory.state === state);
  const steady = found.filter(([, { flapping }]) => !flapping);
  return (steady.length === 0 ? found : steady).map(([probe]) => probe).toSorted();
}

import type { Monitor, MonitorInList, MonitorRequest, Run } from '@vantage/contract';

import { describeAlarm, readAlarm } from './definition.ts';
import type { MonitorRecord, WholeMonitor } from './store/monitor-records.ts';
import type { RunRecord } from './state/evaluate-run.ts';
import type { MonitorState, ProbeMemory } from './state/monitor-state.ts';

/** Replaces the paths of webhooks in responses. */
export const HIDDEN_PATH = '/…';

/** The monitor as listed by the API. */
export function describeMonitor(name: string, { stored, state, nextMs, parting }: MonitorRecord): MonitorInList {
  const { request, owner } = stored;
  const rule = readAlarm(request.alarm ?? {});
  return {
    name,
    owner,
    ...withoutSecrets(request),
    ...(rule === undefined ? {} : { alarm: describeAlarm(rule) }),
    state: state?.state ?? 'unknown',
    since: timeOf(state?.sinceMs),
    alarmSince: timeOf(state?.alarmSinceMs ?? (state?.state === 'bad' ? state.sinceMs : null)),
    headline: state?.headline ?? null,
    lastTickAt: timeOf(state?.atMs),
    nextTickAt: timeOf(nextMs),
    agreement: state?.agreement ?? null,
    // The state of an earlier release has no `traceId`.
    tracerouteId: state?.traceId ?? null,
    parting: parting !== undefined && parting.traceId === state?.traceId ? parting.sentence : null,
    lastPathChangeAt: timeOf(state?.pathChangedMs),
    ...emptyLocationsOf(state),
    probes: describeProbes(state),
  };
}

/** Hides the values of headers and the paths of webhooks, which are often secrets. */
function withoutSecrets({ check, webhooks, ...request }: MonitorRequest): MonitorRequest {
  const { headers, ...options } = (check as { readonly options?: { readonly headers?: object } }).options ?? {};
  const hidden = Object.fromEntries(Object.keys(headers ?? {}).map((name) => [name, '…']));
  return {
    check: headers === undefined ? check : { ...check, options: { ...options, headers: hidden } },
    ...request,
    ...(webhooks === undefined ? {} : { webhooks: webhooks.map((url) => `${new URL(url).origin}${HIDDEN_PATH}`) }),
  };
}

/** @param kept ids of the checks of path changes whose results are still stored */
export function describeMonitorWithRuns(
  name: string,
  { runs, pathChanges, ...record }: WholeMonitor,
  kept: ReadonlySet<string>,
): Monitor {
  return {
    ...describeMonitor(name, record),
    pathChanges: pathChanges.map(({ changes, ...change }) => ({
      ...change,
      changes: changes.map((one) => ({ ...one, kept: kept.has(change.checkId ?? '') && kept.has(one.before) })),
    })),
    runs: runs.map(describeRun),
  };
}

/** The probes of the last tick; the state keeps others, too, for `REMEMBERED_TICKS`. */
function describeProbes(state: MonitorState | undefined): Monitor['probes'] {
  const probes = Object.entries(state?.probes ?? {}).filter(([, { tick }]) => tick === state!.tick);
  return Object.fromEntries(
    probes.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([probe, memory]) => [probe, describeProbe(memory)]),
  );
}

function describeProbe(memory: ProbeMemory): Monitor['probes'][string] {
  const { sinceMs, tick: _tick, measuredTick: _measuredTick, history: _history, ...shown } = memory;
  return { ...shown, since: timeOf(sinceMs)! };
}

/** A run in the public form. */
export function describeRun({ atMs, startedMs, tick, checkId, reason, results, ...more }: RunRecord): Run {
  const times = { scheduledAt: timeOf(atMs)!, startedAt: timeOf(startedMs) };
  return { tick, checkId, ...times, reason, ...emptyLocationsOf(more), results };
}

function emptyLocationsOf(of: Pick<MonitorState, 'emptyLocations'> | undefined): Pick<Run, 'emptyLocations'> {
  return of?.emptyLocations === undefined ? {} : { emptyLocations: [...of.emptyLocations] };
}

function timeOf(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}

import type { Check, MonitorEvent as PublicEvent, StoredPathChange } from '@vantage/contract';

import type { Checks } from '../../checks/checks.ts';
import type { EventFacts } from '../state/describe-events.ts';
import type { MonitorState } from '../state/monitor-state.ts';
import type { FoundChange } from './describe-path-changes.ts';
import { followPaths, type PathFollowing } from './follow-paths.ts';
import type { ReadStored } from './run-ticks.ts';

export interface PathsOfTick {
  readonly state: Pick<MonitorState, 'pathChecks' | 'pathRuns' | 'pathChangedMs'>;
  /** The change of the path at this tick, as an event and as an entry of the list; none if there is no change. */
  readonly event?: PublicEvent;
  readonly entry?: StoredPathChange;
}

interface Reading {
  readonly read: Checks['read'];
  readonly stopping: AbortSignal;
}

/** Compares the paths of a valid traceroute monitor with its earlier ones; any other monitor has none. */
export async function pathsOfTick(
  { read, stopping }: Reading,
  check: Check | undefined,
  before: MonitorState | undefined,
  reading: ReturnType<ReadStored>,
  facts: EventFacts & Pick<MonitorState, 'tick' | 'atMs'>,
): Promise<PathsOfTick> {
  const { pathChecks = {}, pathRuns = {}, pathChangedMs } = before ?? {};
  const isTrace = reading.valid && reading.definition.accepted.checkType.type === 'traceroute';
  if (!isTrace) return { state: { pathChangedMs } };
  const known = { pathChecks, pathRuns };
  const { change, ...paths }: PathFollowing =
    check === undefined ? { ...known, change: undefined } : await followPaths(check, known, read, stopping);
  if (change === undefined) return { state: { ...paths, pathChangedMs } };
  return { state: { ...paths, pathChangedMs: facts.atMs }, ...described(change, facts) };
}

function described(
  change: FoundChange,
  { monitor, checkId, tick, atMs }: EventFacts & Pick<MonitorState, 'tick' | 'atMs'>,
): Required<Pick<PathsOfTick, 'event' | 'entry'>> {
  const at = new Date(atMs).toISOString();
  const { before: _before, ...found } = change;
  return { event: { kind: 'path', monitor, tick, at, checkId, ...change }, entry: { tick, at, checkId, ...found } };
}

import type { Check } from '@vantage/contract';
import { followPath, followWays, MOST_PATH_RUNS, reachedFrom } from '@vantage/summary';

import type { Checks } from '../../checks/checks.ts';
import { CheckEvicted } from '../../redis/store-errors.ts';
import { describeChanges, type ChangedPath, type FoundChange } from './describe-path-changes.ts';

/** Id of the check with which later traceroutes are compared, by probe. */
export type PathChecks = Readonly<Record<string, string>>;

/** Id of a check, and the hash of its path from one probe. */
type PathRun = readonly [id: string, hash: string];

/** By probe, oldest first: the last checks whose path was compared, since the last proved path change. */
export type PathRuns = Readonly<Record<string, readonly PathRun[]>>;

export interface PathFollowing {
  readonly pathChecks: PathChecks;
  readonly pathRuns: PathRuns;
  readonly change: FoundChange | undefined;
}

/** Stored data about the paths of earlier runs. */
export type KnownPaths = Partial<Pick<PathFollowing, 'pathChecks' | 'pathRuns'>>;

/** Compares the paths of a traceroute monitor with the earlier paths whose results are still stored. */
export async function followPaths(
  check: Check,
  { pathChecks: before = {}, pathRuns: runsBefore = {} }: KnownPaths,
  read: Checks['read'],
  signal: AbortSignal,
): Promise<PathFollowing> {
  const readOnce = readerOf(read, signal);
  const pathChecks = new Map(Object.entries(before));
  const pathRuns = new Map(Object.entries(runsBefore));
  const changes = new Map<string, ChangedPath>();
  for (const [probe, id] of Object.entries(before)) {
    const kept = await readOnce(id);
    if (kept === undefined) pathChecks.delete(probe);
    const step = kept === undefined ? undefined : followPath(kept, check, probe);
    if (step === undefined) continue;
    if (step.isBaseline) pathChecks.set(probe, check.testId);
    const { text, change, move } = step;
    if (text !== null && move !== null) changes.set(probe, { text, change, id, move });
    if (step.hash === null) continue;
    const earlier = step.text === null ? (pathRuns.get(probe) ?? []) : [];
    const runs = [...earlier, [check.testId, step.hash] as const].slice(-MOST_PATH_RUNS);
    const lasting = await lastingOf(runs, check, probe, readOnce);
    if (lasting !== undefined) {
      changes.set(probe, lasting.changed);
      pathChecks.set(probe, check.testId);
    }
    pathRuns.set(probe, runs.slice(lasting?.from ?? 0));
  }
  for (const probe of reachedFrom(check)) if (!pathChecks.has(probe)) pathChecks.set(probe, check.testId);
  return {
    pathChecks: Object.fromEntries(pathChecks),
    pathRuns: Object.fromEntries(pathRuns),
    change: describeChanges(changes),
  };
}

/**
 * A change of a balancer’s paths or of routers that only several runs together prove, with the index of the first run
 * after it; undefined if there is none.
 */
async function lastingOf(
  runs: readonly PathRun[],
  check: Check,
  probe: string,
  read: (id: string) => Promise<Check | undefined>,
): Promise<{ readonly changed: ChangedPath; readonly from: number } | undefined> {
  if (new Set(runs.map(([, hash]) => hash)).size < 2) return undefined;
  const earlier = await Promise.all(runs.slice(0, -1).map(([id]) => read(id)));
  const step = followWays([...earlier.filter((one) => one !== undefined), check], probe);
  if (step === undefined) return undefined;
  const from = runs.length - step.later;
  const { text, change, move } = step;
  return { changed: { text, change, id: runs[from - 1]![0], move }, from };
}

/** Reads each check once; undefined for one whose results are gone. */
function readerOf(read: Checks['read'], signal: AbortSignal): (id: string) => Promise<Check | undefined> {
  const known = new Map<string, Promise<Check | undefined>>();
  return (id) => {
    const reading = known.get(id) ?? readKept(id, read, signal);
    known.set(id, reading);
    return reading;
  };
}

async function readKept(id: string, read: Checks['read'], signal: AbortSignal): Promise<Check | undefined> {
  try {
    return await read(id, 0, signal);
  } catch (error) {
    if (error instanceof CheckEvicted) return undefined;
    throw error;
  }
}

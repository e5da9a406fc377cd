import { escapeText, type Check, type MonitorEvent } from '@vantage/contract';
import { followPath, followWays, MOST_PATH_RUNS, pathChangeSentence, reachedFrom } from '@vantage/summary';

import type { Checks } from '../../checks/checks.ts';
import { CheckEvicted } from '../../redis/store-errors.ts';

/** The check with which later traceroutes are compared, by probe. */
export type PathChecks = Readonly<Record<string, string>>;

/** A check, and the hash of its path from one probe. */
type PathRun = readonly [id: string, hash: string];

/** By probe, oldest first: the last checks whose path was compared, from the last certain change of the path on. */
export type PathRuns = Readonly<Record<string, readonly PathRun[]>>;

type PathEvent = Extract<MonitorEvent, { readonly kind: 'path' }>;

export interface PathFollowing {
  readonly pathChecks: PathChecks;
  readonly pathRuns: PathRuns;
  readonly change: Pick<PathEvent, 'before' | 'probes' | 'change' | 'sentence'> | undefined;
}

/** What is kept of the earlier runs of a monitor. */
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
  const changes = new Map<string, Changed>();
  for (const [probe, id] of Object.entries(before)) {
    const kept = await readOnce(id);
    if (kept === undefined) pathChecks.delete(probe);
    const step = kept === undefined ? undefined : followPath(kept, check, probe);
    if (step === undefined) continue;
    if (step.isBaseline) pathChecks.set(probe, check.testId);
    if (step.text !== null) changes.set(probe, { text: step.text, change: step.change, id });
    if (step.hash === null) continue;
    const earlier = step.text === null ? (pathRuns.get(probe) ?? []) : [];
    const runs = [...earlier, [check.testId, step.hash] as const].slice(-MOST_PATH_RUNS);
    const lasting = await lastingOf(runs, check, probe, readOnce);
    if (lasting !== undefined) changes.set(probe, lasting.changed);
    pathRuns.set(probe, runs.slice(lasting?.from ?? 0));
  }
  for (const probe of reachedFrom(check)) if (!pathChecks.has(probe)) pathChecks.set(probe, check.testId);
  return {
    pathChecks: Object.fromEntries(pathChecks),
    pathRuns: Object.fromEntries(pathRuns),
    change: changeOf(changes),
  };
}

/** The change from one probe, with the id of the check before it. */
interface Changed {
  readonly text: string;
  readonly change: 'path' | 'hop' | 'ways';
  readonly id: string;
}

/**
 * Ways that a balancer lost or gained, and the index of the first run after the change; undefined if there is no such
 * change.
 */
async function lastingOf(
  runs: readonly PathRun[],
  check: Check,
  probe: string,
  read: (id: string) => Promise<Check | undefined>,
): Promise<{ readonly changed: Changed; readonly from: number } | undefined> {
  if (new Set(runs.map(([, hash]) => hash)).size < 2) return undefined;
  const earlier = await Promise.all(runs.slice(0, -1).map(([id]) => read(id)));
  const step = followWays([...earlier.filter((one) => one !== undefined), check], probe);
  if (step === undefined) return undefined;
  const from = runs.length - step.later;
  return { changed: { text: step.text, change: 'ways', id: runs[from - 1]![0] }, from };
}

const CHANGES = ['path', 'ways', 'hop'] as const;

function changeOf(changes: ReadonlyMap<string, Changed>): PathFollowing['change'] {
  if (changes.size === 0) return undefined;
  const sentence = pathChangeSentence(new Map([...changes].map(([probe, { text }]) => [probe, text])));
  const kinds = new Set([...changes.values()].map(({ change }) => change));
  return {
    before: [...new Set([...changes.values()].map(({ id }) => id))],
    probes: [...changes.keys()].toSorted(),
    change: CHANGES.find((kind) => kinds.has(kind))!,
    sentence: escapeText(sentence, 1_024),
  };
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

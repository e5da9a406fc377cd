import { escapeText, type Check, type MonitorEvent } from '@vantage/contract';
import { followPath, pathChangeSentence, reachedFrom } from '@vantage/summary';

import type { Checks } from '../../checks/checks.ts';
import { CheckEvicted } from '../../redis/store-errors.ts';

/** The check with which later traceroutes are compared, by probe. */
export type PathChecks = Readonly<Record<string, string>>;

type PathEvent = Extract<MonitorEvent, { readonly kind: 'path' }>;

export interface PathFollowing {
  readonly pathChecks: PathChecks;
  readonly change: Pick<PathEvent, 'before' | 'probes' | 'change' | 'sentence'> | undefined;
}

/** Compares the paths of a traceroute monitor with the earlier paths whose results are still stored. */
export async function followPaths(
  check: Check,
  before: PathChecks,
  read: Checks['read'],
  signal: AbortSignal,
): Promise<PathFollowing> {
  const ids = [...new Set(Object.values(before))];
  const kept = new Map(await Promise.all(ids.map(async (id) => [id, await readKept(id, read, signal)] as const)));
  const pathChecks = new Map(Object.entries(before).filter(([, id]) => kept.get(id) !== undefined));
  const changes = new Map<string, Changed>();
  for (const [probe, id] of pathChecks) {
    const step = followPath(kept.get(id)!, check, probe);
    if (step === undefined) continue;
    if (step.isBaseline) pathChecks.set(probe, check.testId);
    if (step.text !== null) changes.set(probe, { text: step.text, change: step.change, id });
  }
  for (const probe of reachedFrom(check)) if (!pathChecks.has(probe)) pathChecks.set(probe, check.testId);
  return { pathChecks: Object.fromEntries(pathChecks), change: changeOf(changes) };
}

/** The change from one probe, with the check before. */
interface Changed {
  readonly text: string;
  readonly change: 'path' | 'hop';
  readonly id: string;
}

function changeOf(changes: ReadonlyMap<string, Changed>): PathFollowing['change'] {
  if (changes.size === 0) return undefined;
  const sentence = pathChangeSentence(new Map([...changes].map(([probe, { text }]) => [probe, text])));
  return {
    before: [...new Set([...changes.values()].map(({ id }) => id))],
    probes: [...changes.keys()].toSorted(),
    change: [...changes.values()].some(({ change }) => change === 'path') ? 'path' : 'hop',
    sentence: escapeText(sentence, 1_024),
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

import type { Partition } from './partition.ts';
import type { Counted } from './words.ts';

/** Describes the counted probes, as opposed to the others. */
export function countedPhrase({ counts: { down, pending, silent, notMeasured } }: Partition): Counted {
  const isPart = pending + silent + notMeasured > 0;
  // What counts as down may be silence, too.
  if (silent > 0) return { did: down > 0 ? 'can tell' : 'got an answer', isPart };
  return { did: pending > 0 ? 'has measured' : 'could measure', isPart };
}

import type { Partition } from './partition.ts';
import type { Counted } from './words.ts';

/** Describes the counted probes, as opposed to the others. */
export function countedPhrase({ counts: { pending, silent, notMeasured } }: Partition): Counted {
  const isPart = pending + silent + notMeasured > 0;
  if (silent > 0) return { did: 'got an answer', isPart };
  return { did: pending > 0 ? 'has measured' : 'could measure', isPart };
}

import { listed, unique } from '../../words.ts';
import { meaningOf } from '../steps/refusal-marks.ts';
import type { PathRefusal } from '../refusals/refusals.ts';

/** Maximum number of refusals in a sentence. */
const NAMED = 3;

/**
 * `hop 3, 192.0.2.9 tells fra-1 that a filter forbids the traffic (!X)`, for each sender and kind of error, at most
 * `NAMED`; further ones are only counted.
 */
export function refusalsText(refusals: readonly PathRefusal[]): string {
  const groups = Map.groupBy(refusals, ({ where, mark }) => `${where} ${mark}`);
  return listed(
    [...groups.values()].map((own) => {
      const [{ where, mark, isOfTarget }] = own as [PathRefusal];
      const probes = unique(own.map(({ trace }) => trace.probeResult.probe));
      return `${isOfTarget ? 'the target itself' : where} tells ${listed(probes)} that ${meaningOf(mark)}`;
    }),
    NAMED,
  );
}

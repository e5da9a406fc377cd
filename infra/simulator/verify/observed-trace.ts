import type { Traceroute } from '../../netlab/test-lab.ts';
import type { Case } from '../compile.ts';
import type { Passage } from '../log.ts';
import type { Share } from '../run-cases.ts';
import { endsOf, ownPassages } from './truth.ts';

/** One probe's trace compared with its packets. */
export interface ObservedTrace {
  readonly of: Case;
  readonly share: Share;
  readonly traced: Traceroute;
  readonly own: readonly Passage[];
  /** First hop at which a flow may have ended. */
  readonly firstEnd: number;
  /** Last hop that a flow may reach; Infinity if a flow has no end. */
  readonly lastEnd: number;
}

export function observeTrace(of: Case, share: Share): ObservedTrace {
  const own = ownPassages(of, share);
  const ends = [...endsOf(of, own).values()];
  return {
    of,
    share,
    traced: share.outcome as Traceroute,
    own,
    firstEnd: Math.min(Infinity, ...ends.map(({ mayFrom }) => mayFrom)),
    lastEnd: Math.max(0, ...ends.map(({ from }) => from)),
  };
}

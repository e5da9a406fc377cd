import type { Check } from '@vantage/contract';

import type { ProbeState } from '../store/probe-state.ts';

export interface Completion {
  /** Greater than the version of every state. */
  readonly version: number;
  readonly check: Omit<Check, 'results'>;
  /** One per probe, in the order of selection. */
  readonly states: readonly ProbeState[];
}

/** A check that is followed until it is closed. */
export interface LiveCheck {
  /** States newer than a version, oldest first; -1 returns one for each probe. */
  readonly since: (version: number) => readonly ProbeState[];
  /** Undefined until the check is completed; then final. */
  readonly completion: () => Completion | undefined;
  /** True if the check is no longer stored, or was evicted. */
  readonly isGone: () => boolean;
  /** Incremented when versions restart because Redis lost data: versions sent earlier are then void. */
  readonly epoch: () => number;
  readonly version: () => number;
  readonly close: () => void;
}

/** Follows checks for event streams. */
export interface LiveChecks {
  /**
   * @param onChange called after changes, of which several may share a call; never before this resolves
   * @returns undefined if there is no such check
   * @throws StoreUnavailable, CheckEvicted
   */
  readonly follow: (id: string, onChange: () => void) => Promise<LiveCheck | undefined>;
}

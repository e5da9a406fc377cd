import type { Check } from '@vantage/contract';

import type { ProbeState } from '../store/probe-state.ts';

export interface Completion {
  /** Greater than that of every state. */
  readonly version: number;
  readonly check: Omit<Check, 'results'>;
  /** One for each probe, in the order of selection. */
  readonly states: readonly ProbeState[];
}

/** A check as it goes on, until it is closed. */
export interface LiveCheck {
  /** The states that are newer than a version, oldest first; -1 gives one for each probe. */
  readonly since: (version: number) => readonly ProbeState[];
  /** Undefined until the check is completed; nothing changes after that. */
  readonly completion: () => Completion | undefined;
  /** True when the check is no longer kept. */
  readonly isGone: () => boolean;
  /** Grows when versions began anew because Redis lost some: what was sent before counts for nothing. */
  readonly epoch: () => number;
  readonly version: () => number;
  readonly close: () => void;
}

/** Checks as they go on, for event streams. */
export interface LiveChecks {
  /**
   * @param onChange called after every change, never before this resolves
   * @returns undefined where there is no such check
   * @throws StoreUnavailable
   */
  readonly follow: (id: string, onChange: () => void) => Promise<LiveCheck | undefined>;
}

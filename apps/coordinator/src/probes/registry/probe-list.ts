import type { Agents, Probes } from '@vantage/contract';

/** Probes as the HTTP edge sees them. */
export interface ProbeList {
  /**
   * Every probe with an operator's record that was seen in the last 24 hours, or never yet.
   *
   * @throws StoreUnavailable
   */
  readonly list: () => Promise<Probes>;
  /**
   * The agents of the same probes.
   *
   * @throws StoreUnavailable
   */
  readonly agents: () => Promise<Agents>;
}

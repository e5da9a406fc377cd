import type { Agents, Probes } from '@vantage/contract';

/** Probes as the HTTP layer uses them. */
export interface ProbeList {
  /**
   * Probes with a record that were seen in the last 24 hours, or never, or are suspended.
   *
   * @throws StoreUnavailable
   */
  readonly list: () => Promise<Probes>;
  /**
   * The agents of the probes that `list` returns.
   *
   * @throws StoreUnavailable
   */
  readonly agents: () => Promise<Agents>;
  /**
   * `host:port` of the metrics of agents, by the ids of their probes, as their operator has set it.
   *
   * @throws StoreUnavailable
   */
  readonly metricsAddresses: () => Promise<ReadonlyMap<string, string>>;
}

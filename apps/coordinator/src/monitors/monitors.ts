import type { InputError, Monitor, MonitorEvent, MonitorInList, Monitors, Run } from '@vantage/contract';

/** Monitors as the HTTP layer reads them. */
export interface MonitorReads {
  /** @throws StoreUnavailable */
  readonly list: () => Promise<Monitors>;
  /**
   * @returns undefined if there is no such monitor
   * @throws StoreUnavailable
   */
  readonly read: (name: string) => Promise<Monitor | undefined>;
  /**
   * All monitors in the text format of Prometheus.
   *
   * @throws StoreUnavailable
   */
  readonly metrics: () => Promise<string>;
  /**
   * Follows the events of a monitor until the returned function is called.
   *
   * @param onChange called when events may be new, or the monitor was changed or removed
   */
  readonly follow: (name: string, onChange: () => void) => () => void;
  /**
   * @param after id of the last known event; undefined if there is none
   * @returns undefined if there is no such monitor
   * @throws StoreUnavailable
   */
  readonly eventsAfter: (name: string, after: string | undefined) => Promise<EventsReading | undefined>;
  /** Why `MONITORS_FILE` is not in force, one fault a line; undefined if it is, or is not set. */
  readonly fileFault: () => string | undefined;
}

export interface EventsReading {
  /** Events after the known one, oldest first. */
  readonly events: readonly { readonly id: string; readonly event: MonitorEvent }[];
  /** The last run; undefined before the first. */
  readonly run: Run | undefined;
  /** The monitor itself, if no event was known, or if events after the known one may have been dropped or lost. */
  readonly snapshot: { readonly id: string; readonly monitor: MonitorInList } | undefined;
}

export type MonitorWrite =
  | { readonly outcome: 'invalid'; readonly errors: readonly InputError[] }
  /** `file`: the file owns the monitor. `full`: there are too many monitors. */
  | { readonly outcome: 'file' }
  | { readonly outcome: 'full' }
  | { readonly outcome: 'new' | 'changed' | 'same'; readonly monitor: Monitor };

/** The changes of monitors by clients with an API key. */
export interface MonitorWrites {
  /**
   * @param allow additional networks that the key may measure
   * @throws StoreUnavailable
   */
  readonly put: (name: string, request: unknown, allow: readonly string[]) => Promise<MonitorWrite>;
  /** @throws StoreUnavailable */
  readonly remove: (name: string) => Promise<'removed' | 'absent' | 'file'>;
}

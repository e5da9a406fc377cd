import type { AnyCheckType, Check, InputError, Screenshot } from '@vantage/contract';

/** A request that passed its schema and the target policy. */
export interface AcceptedRequest {
  readonly checkType: AnyCheckType;
  /** `host` as the client wrote it; with `between`, the names of both probes. Part of the response. */
  readonly submittedHost: string;
  /** Parameters of the diagnostic: canonical host, and options with defaults. */
  readonly params: { readonly host: string; readonly options: Readonly<Record<string, unknown>> };
  readonly probes?: readonly string[] | undefined;
  readonly locations?: readonly string[] | undefined;
  /** Locations that the caller left out of `locations` because they name nothing known; they are reported as empty. */
  readonly unknownLocations?: readonly string[] | undefined;
  /** Some of `probes`, of which one that is online must have capacity; by default any. */
  readonly needed?: readonly string[] | undefined;
  readonly limit: number;
  /** Two probes that measure each other, instead of a host. */
  readonly between?: readonly [string, string] | undefined;
  /** With `between`: the host that each of the two probes measures, in place of that in `params`. */
  readonly hosts?: ReadonlyMap<string, string> | undefined;
  /**
   * Text whose hash orders equally good probes, without regard to load: equal texts give equal orders. By default the
   * order is random.
   */
  readonly steadyBy?: string | undefined;
}

export type Creation =
  | {
      readonly created: true;
      readonly checkId: string;
      readonly probes: readonly string[];
      /** Number of these probes that get no job, because they are offline, stopping or too busy. */
      readonly withoutJob: number;
      /** Locations of the request without a probe that can run the check now; absent if there are none. */
      readonly emptyLocations?: readonly string[];
    }
  /** Unknown probe names, or invalid locations. */
  | { readonly created: false; readonly reason: 'invalid'; readonly errors: readonly InputError[] }
  /** No online probe matches and supports the type. */
  | { readonly created: false; readonly reason: 'no-probe'; readonly detail: string }
  /** `admit` returned false. */
  | { readonly created: false; readonly reason: 'not-admitted' };

/**
 * Counts the request against the rate limits; resolves to whether they admit it. Called with the number of selected
 * probes, before the check is written. Never rejects.
 *
 * @param early lets the check start before the reply of the rate limits has arrived, which saves a round trip
 */
export type AdmitCheck = (probes: number, early?: EarlyStart) => Promise<boolean>;

export interface EarlyStart {
  /** Key that the rate-limit script writes if it admits the check; without it, the early start has no effect. */
  readonly grant: string;
  /** Starts the check. Called after the rate-limit command was sent, if the counts in memory admit the check. */
  readonly onLikely: () => void;
}

/** Checks as the HTTP layer and monitors use them. */
export interface Checks {
  /**
   * Selects probes, calls `admit`, writes the record and enqueues one job per online probe and, if the request asks for
   * one, a job for a screenshot.
   *
   * @param client digest of the client to whose budget the results count; `monitors` for all monitors
   * @param id given if another coordinator may have started the same check; it is started once only
   * @param first digest of client and `Idempotency-Key`, which names the idempotency record
   * @throws StoreUnavailable if Redis does not accept the check
   * @throws QueuesFull if none of the selected probes that are online, or none of `needed`, has capacity and others
   * cannot take their place
   */
  readonly create: (
    request: AcceptedRequest,
    admit?: AdmitCheck,
    client?: string,
    id?: string,
    first?: string,
  ) => Promise<Creation>;
  /**
   * Reads a check with a result for every selected probe.
   *
   * @param waitMs waits at most this long for completion
   * @returns undefined if there is no such check
   * @throws StoreUnavailable
   * @throws CheckEvicted
   */
  readonly read: (id: string, waitMs: number, signal: AbortSignal) => Promise<Check | undefined>;
  /**
   * Reads the state of a check's screenshot, and the image.
   *
   * @returns undefined if there is no such check
   * @throws StoreUnavailable
   * @throws CheckEvicted
   */
  readonly screenshot: (id: string) => Promise<ScreenshotReading | undefined>;
  /** Counts a request for a check that was refused because the coordinator is overloaded. */
  readonly noteShed: () => void;
}

export interface ScreenshotReading {
  readonly screenshot: Screenshot;
  /** The PNG file, or null if there is none. */
  readonly png: Buffer | null;
  /** Creation time of the check, milliseconds since the epoch. */
  readonly createdAt: number;
}

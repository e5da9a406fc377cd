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
  /** Some of `probes`; the check is refused unless one of these is online and has capacity. */
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
  | { readonly created: false; readonly reason: 'no-probe'; readonly detail: string };

export type StartedCheck = Extract<Creation, { readonly created: true }>;

/** Why a check was not started. */
export type Unselected = Exclude<Creation, { readonly created: true }>;

/** A check whose probes are selected. It is written by `start`, which must be called. */
export interface SelectedCheck {
  readonly created: undefined;
  readonly checkId: string;
  readonly probes: readonly string[];
  /**
   * Key that the rate-limit script writes if it admits the check, so that the check can start before the reply of that
   * script has arrived; undefined on a Cluster.
   */
  readonly grant: string | undefined;
  /**
   * Writes the record and enqueues one job per online probe and, if the request asks for one, a job for a screenshot.
   *
   * @returns undefined if the rate limits do not admit the check
   * @throws StoreUnavailable if Redis does not accept the check
   */
  readonly start: (options?: StartOptions) => Promise<StartedCheck | undefined>;
}

export interface StartOptions {
  /** By default no rate limit applies. */
  readonly admission?: LimitAdmission | undefined;
  /** Digest of the client to whose budget the results count; `monitors` for all monitors. */
  readonly client?: string | undefined;
  /** Digest of client and `Idempotency-Key`, which names the idempotency record. */
  readonly first?: string | undefined;
}

/** A request that is being counted against the rate limits. Neither promise rejects. */
export interface LimitAdmission {
  /** Resolves when the rate-limit command was sent, to true if the counts in memory admit the request. */
  readonly isLikely: Promise<boolean>;
  readonly isAdmitted: Promise<boolean>;
}

/** Checks as the HTTP layer and monitors use them. */
export interface Checks {
  /**
   * Selects the probes of a check.
   *
   * @throws StoreUnavailable
   * @throws QueuesFull if none of the selected probes that are online, or none of `needed`, has capacity and others
   * cannot take their place
   */
  readonly select: (request: AcceptedRequest) => Promise<SelectedCheck | Unselected>;
  /**
   * Selects the probes of a check and starts it, without rate limits.
   *
   * @param client as in `StartOptions`
   * @param id given if another coordinator may have started the same check; it is started once only
   * @throws as `select` and `start`
   */
  readonly create: (request: AcceptedRequest, client?: string, id?: string) => Promise<Creation>;
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

import type { AnyCheckType, Check, InputError, Screenshot } from '@vantage/contract';

/** A request that passed its schema and the target policy. */
export interface AcceptedRequest {
  readonly checkType: AnyCheckType;
  /** `host` as the caller wrote it, shown back. */
  readonly submittedHost: string;
  /** What the diagnostic gets: canonical host, fields and options with their defaults. */
  readonly params: { readonly host: string; readonly options: Readonly<Record<string, unknown>> };
  readonly probes?: readonly string[] | undefined;
  readonly locations?: readonly string[] | undefined;
  readonly limit: number;
  /** Selects the same probes for the same text, as far as they are online; without it probes that are equal take turns. */
  readonly steadyBy?: string | undefined;
}

export type Creation =
  | { readonly created: true; readonly checkId: string; readonly probes: readonly string[] }
  /** Names probes that do not exist, or locations that cannot be read. */
  | { readonly created: false; readonly reason: 'invalid'; readonly errors: readonly InputError[] }
  /** No probe that is online matches and can run the type. */
  | { readonly created: false; readonly reason: 'no-probe'; readonly detail: string }
  /** `admit` said no. */
  | { readonly created: false; readonly reason: 'not-admitted' };

/** Asked before anything is written, with the number of probes that were selected. Never rejects. */
export type AdmitCheck = (probes: number) => Promise<boolean>;

/** Checks as the HTTP edge sees them. */
export interface Checks {
  /**
   * Selects probes, asks `admit` if there is one, writes the record, enqueues one job per probe.
   *
   * @param client whose results count together
   * @param id of a check that another coordinator may have started: it is started once
   * @param first digest of the `Idempotency-Key` of the request
   * @throws StoreUnavailable when Redis cannot take it; then nothing was promised
   */
  readonly create: (
    request: AcceptedRequest,
    admit?: AdmitCheck,
    client?: string,
    id?: string,
    first?: string,
  ) => Promise<Creation>;
  /**
   * The check with a result for every selected probe, or undefined when there is no such check.
   *
   * @param waitMs holds the answer until the check is completed or the time is up
   * @throws StoreUnavailable
   * @throws CheckEvicted
   */
  readonly read: (id: string, waitMs: number, signal: AbortSignal) => Promise<Check | undefined>;
  /**
   * What became of the screenshot of a check, and the picture; undefined where there is no such check.
   *
   * @throws StoreUnavailable
   * @throws CheckEvicted
   */
  readonly screenshot: (id: string) => Promise<ScreenshotReading | undefined>;
}

export interface ScreenshotReading {
  readonly screenshot: Screenshot;
  /** PNG as it is; null where there is none. */
  readonly png: Buffer | null;
  /** When the check was created, milliseconds since the epoch. */
  readonly createdAt: number;
}

import type { AnyCheckType, Check, InputError } from '@vantage/contract';

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
}

export type Creation =
  | { readonly created: true; readonly checkId: string; readonly probes: readonly string[] }
  /** Names probes that do not exist, or locations that cannot be read. */
  | { readonly created: false; readonly reason: 'invalid'; readonly errors: readonly InputError[] }
  /** No probe that is online matches and can run the type. */
  | { readonly created: false; readonly reason: 'no-probe'; readonly detail: string };

/** Checks as the HTTP edge sees them. */
export interface Checks {
  /**
   * Selects probes, writes the record, enqueues one job per probe.
   *
   * @throws StoreUnavailable when Redis cannot take it; then nothing was promised
   */
  readonly create: (request: AcceptedRequest) => Promise<Creation>;
  /**
   * The check with a result for every selected probe, or undefined when there is no such check.
   *
   * @param waitMs holds the answer until the check is completed or the time is up
   * @throws StoreUnavailable
   */
  readonly read: (id: string, waitMs: number, signal: AbortSignal) => Promise<Check | undefined>;
}

/** Redis cannot be reached, is not writable, or did not answer in time. The edge answers 503. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

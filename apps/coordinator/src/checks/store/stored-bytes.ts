/** Client of a completed check, and its approximate memory in Redis without its screenshot. */
export interface StoredCheck {
  readonly bytes: number;
  /** Digest of the client, or `monitors`; '' for checks of older releases, which share one budget. */
  readonly client: string;
}

/** Approximate bytes of a check without its results: record, keys, ledger entries. */
export const RECORD_BYTES = 1_280;
/** Approximate bytes of the stored response for an `Idempotency-Key`, and of its digest in the check. */
export const IDEMPOTENCY_RECORD_BYTES = 352;
/** Approximate bytes of the record of an evicted check, with its ledger entries. */
export const REMOVED_BYTES = 512;
/** Overhead of a stored result in bytes. */
export const RESULT_BYTES = 96;

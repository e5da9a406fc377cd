/** What a completed check takes in Redis, and whose it is. */
export interface StoredCheck {
  readonly bytes: number;
  /** Digest of the client; '' for checks of older releases, which share one budget. */
  readonly client: string;
}

/** What a check takes in Redis besides its results: its record, its keys, its places in the ledger. Bytes, about. */
export const RECORD_BYTES = 1_280;
/** The first response by an `Idempotency-Key`, and its digest in the check. Bytes, about. */
export const FIRST_ANSWER_BYTES = 352;
/** What the record of a removed check takes in Redis, with its places in the ledger of those. Bytes, about. */
export const REMOVED_BYTES = 512;
/** What a result takes besides its own bytes. */
export const RESULT_BYTES = 96;

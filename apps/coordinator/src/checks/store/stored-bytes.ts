/** What a completed check takes in Redis, and whose it is. */
export interface StoredCheck {
  readonly bytes: number;
  /** Digest of the client; '' for checks of older releases, which share one budget. */
  readonly client: string;
}

/** What a check takes in Redis besides its results: its record, its keys, its places in the ledger. Bytes, about. */
export const RECORD_BYTES = 1_280;
/** What a result takes besides its own bytes. */
export const RESULT_BYTES = 96;

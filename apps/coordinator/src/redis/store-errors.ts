/** The reason of a removed check in Redis. A sentence there would take three times the memory of the record. */
export const OVER_BUDGET = 'budget';

const OVER_BUDGET_SENTENCE =
  'The check was completed. Its results were removed before their time: results took more memory than the service, or one client, may ' +
  'use, and the oldest checks of the clients that use most go first.';

/** The check was completed, and removed before its time. The edge answers 410 with the message. */
export class CheckEvicted extends Error {
  override readonly name = 'CheckEvicted';

  /** @param stored the reason in Redis; earlier releases stored the sentence */
  constructor(stored: string) {
    super(stored === OVER_BUDGET ? OVER_BUDGET_SENTENCE : stored);
  }
}

/** The probes have more to do than they can end on time. The edge answers 503. */
export class QueuesFull extends Error {
  override readonly name = 'QueuesFull';
}

/** Redis cannot be reached, is not writable, or did not answer in time. The edge answers 503. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

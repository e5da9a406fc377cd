/** Stored reason of an evicted check: a word, because many such records take memory. */
export const OVER_BUDGET = 'budget';

const OVER_BUDGET_SENTENCE =
  'The check was completed. Its results were removed before their time: results took more memory than the service, or one client, may ' +
  'use, and the oldest checks of the clients that use most go first.';

/** The check was completed and then removed early to free memory. The HTTP layer answers 410 with the message. */
export class CheckEvicted extends Error {
  override readonly name = 'CheckEvicted';

  /** @param stored the reason in Redis; earlier releases stored a sentence */
  constructor(stored: string) {
    super(stored === OVER_BUDGET ? OVER_BUDGET_SENTENCE : stored);
  }
}

/** The probes cannot finish further jobs in time. The HTTP layer answers 503. */
export class QueuesFull extends Error {
  override readonly name = 'QueuesFull';
}

/** Redis cannot serve requests now: it is unreachable or slow, or may not be the master. The HTTP layer answers 503. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
}

/** Redis had records of probes and has none now, because its data was deleted or the last probe removed. */
export class RecordsLost extends StoreUnavailable {
  override readonly name = 'RecordsLost';
}

/** Redis answers and refuses writes, for example because its disk or memory is full. */
export class WritesRefused extends StoreUnavailable {
  override readonly name = 'WritesRefused';
}

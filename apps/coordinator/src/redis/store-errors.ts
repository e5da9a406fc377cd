/** The check was completed, and removed before its time. The edge answers 410 with the message. */
export class CheckEvicted extends Error {
  override readonly name = 'CheckEvicted';
}

/** The probes have more to do than they can end on time. The edge answers 503. */
export class QueuesFull extends Error {
  override readonly name = 'QueuesFull';
}

/** Redis cannot be reached, is not writable, or did not answer in time. The edge answers 503. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

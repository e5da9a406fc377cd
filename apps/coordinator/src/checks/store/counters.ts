/** Event counts since the start of the coordinator. */
export interface Counters {
  checksCreated: number;
  checksRefused: number;
  /** Final results by outcome. */
  resultsApplied: number;
  resultsDuplicate: number;
  resultsLate: number;
  /** Results from a probe that the check did not select. */
  resultsForeign: number;
  /** Results of checks that do not exist or have expired. */
  resultsUnknown: number;
  /** Final results that were committed as `invalid_result`: they violate the schema or the size limit. */
  resultsInvalid: number;
  partialsApplied: number;
  partialsDropped: number;
  /** Screenshots by outcome. */
  screenshotsTaken: number;
  screenshotsGivenUp: number;
  /** Screenshots handed to another probe because the previous one failed or went offline. */
  screenshotsHandedOver: number;
  /** Entries that are neither a valid image nor a failure. */
  screenshotsInvalid: number;
  /** Screenshots and failures that are late or duplicate, or from a probe that was not asked. */
  screenshotsDropped: number;
  /** Stream entries that are neither a result nor a screenshot. */
  entriesMalformed: number;
  probesTimedOut: number;
  probesOffline: number;
  /** Results of probes that were suspended or removed before they had answered. */
  probesWithdrawn: number;
  /** Completed checks removed before their expiry because results exceeded their memory budget. */
  checksEvicted: number;
  /** Waiting jobs removed at their deadline, or because their probe was withdrawn. */
  jobsRemoved: number;
  /** Streams that could not be read although Redis was available. */
  streamFaults: number;
}

export function createCounters(): Counters {
  return {
    checksCreated: 0,
    checksRefused: 0,
    resultsApplied: 0,
    resultsDuplicate: 0,
    resultsLate: 0,
    resultsForeign: 0,
    resultsUnknown: 0,
    resultsInvalid: 0,
    partialsApplied: 0,
    partialsDropped: 0,
    screenshotsTaken: 0,
    screenshotsGivenUp: 0,
    screenshotsHandedOver: 0,
    screenshotsInvalid: 0,
    screenshotsDropped: 0,
    entriesMalformed: 0,
    probesTimedOut: 0,
    probesOffline: 0,
    probesWithdrawn: 0,
    checksEvicted: 0,
    jobsRemoved: 0,
    streamFaults: 0,
  };
}

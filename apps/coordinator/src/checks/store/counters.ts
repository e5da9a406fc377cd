/** Event counts since the start of the coordinator. */
export interface Counters {
  checksCreated: number;
  /** Requests refused because no probe could be selected, or none had capacity. */
  checksRefused: number;
  /** Requests refused because the coordinator was overloaded. */
  checksShed: number;
  /** Final results of agents by outcome. */
  resultsApplied: number;
  resultsDuplicate: number;
  resultsLate: number;
  /** Final results from a probe that the check did not select. */
  resultsForeign: number;
  /** Final results of checks that are not stored, or whose type is not known. */
  resultsUnknown: number;
  /** Final results that were committed as `invalid_result`. */
  resultsInvalid: number;
  partialsApplied: number;
  partialsDropped: number;
  /** Screenshots by outcome. */
  screenshotsTaken: number;
  screenshotsGivenUp: number;
  /** Screenshots handed over to another probe. */
  screenshotsHandedOver: number;
  /** Entries that are neither a valid image nor a failure. */
  screenshotsInvalid: number;
  /** Images and failures without effect, such as late or duplicate ones, or from a probe that was not asked. */
  screenshotsDropped: number;
  /** Stream entries that are neither a result nor a screenshot. */
  entriesMalformed: number;
  probesTimedOut: number;
  probesOffline: number;
  /** Named probes that got no job because they had no capacity, while another one of the check had. */
  probesBusy: number;
  /** Results of probes that were suspended or removed before they had answered. */
  probesWithdrawn: number;
  /** Completed checks removed before their expiry because results exceeded their memory budget. */
  checksEvicted: number;
  /** Waiting jobs, without those for screenshots, removed at their deadline or because their probe was withdrawn. */
  jobsRemoved: number;
  /** Failures to process a stream although Redis was available. */
  streamFaults: number;
}

export function createCounters(): Counters {
  return {
    checksCreated: 0,
    checksRefused: 0,
    checksShed: 0,
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
    probesBusy: 0,
    probesWithdrawn: 0,
    checksEvicted: 0,
    jobsRemoved: 0,
    streamFaults: 0,
  };
}

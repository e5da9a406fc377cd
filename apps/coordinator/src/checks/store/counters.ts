/** What the core has done since it started; each only grows. */
export interface Counters {
  checksCreated: number;
  checksRefused: number;
  /** Final results by what became of them. */
  resultsApplied: number;
  resultsDuplicate: number;
  resultsLate: number;
  /** For a check that did not ask this probe. */
  resultsForeign: number;
  /** For a check that does not exist, or no longer. */
  resultsUnknown: number;
  /** First results that broke the schema or the size; they became `invalid_result` where the probe was pending. */
  resultsInvalid: number;
  partialsApplied: number;
  partialsDropped: number;
  /** Screenshots by what became of them. */
  screenshotsTaken: number;
  screenshotsGivenUp: number;
  /** Given to another probe since the first failed, or went. */
  screenshotsHandedOver: number;
  /** What a probe wrote that is no picture, or no reason why there is none. */
  screenshotsInvalid: number;
  /** What came late, twice, or of a probe that was not asked. */
  screenshotsDropped: number;
  /** Stream entries that are no result at all. */
  entriesMalformed: number;
  probesTimedOut: number;
  probesOffline: number;
  /** Completed checks that were removed before their time, since results took too much memory. */
  checksEvicted: number;
  /** Jobs taken back because their deadline passed while they waited. */
  jobsRemoved: number;
  /** Streams that could not be read although the store was there. */
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
    checksEvicted: 0,
    jobsRemoved: 0,
    streamFaults: 0,
  };
}

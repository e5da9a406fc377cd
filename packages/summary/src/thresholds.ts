/** Thresholds of findings and comparisons. Durations in milliseconds, unless the name has another unit. */
export const thresholds = {
  /** Days before expiry from which a certificate is reported. */
  certificateDaysLeft: 14,
  /** Short-lived certificates count as about to expire in the last third of their life: renewal is due before it. */
  certificateShareLeft: 3,
  /**
   * Share of the probes (at least two) from which an observation of only some probes is a `warning` instead of `info`.
   */
  manyProbes: 0.5,
  nameResolutionMs: 1_000,
  tls: { connects: 4, plusMs: 300 },
  /** Key sizes below these have less than 112 bits of strength. */
  keyExchangeBits: { finiteField: 2_048, curve: 224 },
  firstByte: { connects: 2, plusMs: 1_000 },
  jitter: { minMs: 20, shareOfMean: 0.25, minReplies: 3 },
  /** Lost packets or handshakes from which loss is significant. */
  lostPackets: 2,
  /**
   * Minimum excess over another handshake of the probe, milliseconds, that indicates a retransmitted SYN (after 1 s).
   */
  sentAgainMs: 950,
  /**
   * For groups of packets to the target: `groups` groups with an order of answers that no rate limit causes prove loss.
   * Round-trip times that differ by at most `spreadMs` show that packets of a group do not overtake each other.
   */
  spaced: { groups: 2, spreadMs: 0.5 },
  /** Significance level for a difference in loss, between hops or between probes. */
  lossByChance: 0.1,
  /**
   * Highest probability, given the losses of other probes, at which silence towards one probe proves an outage there.
   */
  unlucky: 0.01,
  /** Likelihood ratio from which loss is preferred to rate limits of the target and the preceding routers. */
  lossOverLimit: 10,
  /** Stricter significance level, to locate where loss begins and for flows that end. */
  beginByChance: 0.01,
  /** Highest probability that loss begins outside the place that is named. */
  beginElsewhere: 0.05,
  /**
   * If more than this share of the packets of other flows is lost beyond a hop or at the target, the packets of one
   * flow do not count as independent.
   */
  sharedLoss: 0.1,
  /**
   * For flows that are silent while others reach the target: minimum number of unanswered full-TTL packets per flow
   * (`full`), minimum number of answers of the target to other flows after a lost packet (`answeredLater`), and maximum
   * number of unanswered packets after its last answer (`lostLast`).
   */
  cutFlows: { full: 3, answeredLater: 3, lostLast: 2 },
  /** Full-TTL packets per flow from which the silence of a target counts in a trace that ran out of time. */
  fullTtlAsked: 5,
  /**
   * Unanswered rounds at the end of a trace that are an outage of the target: `refused` if a router refused a packet in
   * them, else `silent`. Without a refusal they must also be `gaps` times as many as each earlier gap, and chance must
   * not explain them at the level `byChance`, unless they are `long` or more. For a pause between answers, only
   * `silent`, `gaps` and `byChance` apply.
   */
  outage: { refused: 2, silent: 3, gaps: 3, byChance: 0.01, long: 10 },
  outlier: { minProbes: 4, times: 3, plusMs: 50, stretch: 2.5 },
  /** Accuracy of locations, which are those of cities. */
  placeErrorKm: 100,
  /**
   * `minHops`: least difference between the numbers of hops there and back. `spread`: by how many hops this difference
   * at the last router may deviate from that at the target.
   */
  wayBack: { minHops: 3, spread: 2 },
  /** Bits of evidence against chance from which another router in later rounds counts as a change of the path. */
  pathChangeBits: 30,
  mtu: { ordinary: 1_500, ipv6Minimum: 1_280 },
  /** For differences between two checks, and between runs of a monitor. */
  compare: {
    /**
     * Thresholds of the difference between median round-trip times: in milliseconds, as a share of the smaller median,
     * and in spreads of the samples. They require `minSamples` of each check.
     */
    rtt: { plusMs: 5, share: 0.2, spreads: 3, minSamples: 3 },
    /** Thresholds of times that a check measured less often than `minSamples`, such as once. */
    single: { plusMs: 100, times: 2 },
    /** Significance level for differences in times and in loss, over all probes together. */
    byChance: 0.01,
    /** Maximum probability by chance at which a difference in loss at one probe counts, if many probes agree. */
    lossIfAgreed: 0.2,
    /** Maximum probability by chance of the numbers of probes that have one of several rotating answers. */
    rotation: 0.05,
    /** Significance level for a change of a path. */
    pathByChance: 1e-5,
    /**
     * Maximum probability of missing a path by chance at which its absence from one trace counts: `evenly` if all paths
     * are used evenly, `byShare` if the path has the same share of the flows as in the other trace. Both must hold.
     */
    missingWay: { evenly: 0.035, byShare: 0.1 },
    /** Significance level for a path that a load balancer lost or gained, over all runs that are considered. */
    wayByChance: 1e-6,
    /**
     * Minimum number of runs that show a path which a load balancer lost or gained, and minimum number of runs without
     * it.
     */
    runsWithWay: 3,
  },
} as const;

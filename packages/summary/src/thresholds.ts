/** Every number that a finding is decided by. Durations in milliseconds. */
export const thresholds = {
  /** A certificate that is valid for so many days or fewer is about to expire. */
  certificateDaysLeft: 14,
  /** A certificate of a short life is about to expire only in the last part of this many: it is renewed before. */
  certificateShareLeft: 3,
  /** Share of the probes from which on what each of them saw is a warning: it is not the trouble of one. */
  manyProbes: 0.5,
  nameResolutionMs: 1_000,
  tls: { connects: 4, plusMs: 300 },
  /** Below it a group has less than 112 bits of strength. */
  keyExchangeBits: { finiteField: 2_048, curve: 224 },
  firstByte: { connects: 2, plusMs: 1_000 },
  jitter: { minMs: 20, shareOfMean: 0.25, minReplies: 3 },
  /** From so many lost packets or handshakes on it is no accident. */
  lostPackets: 2,
  /** As rare by chance a difference in loss must be to prove that a router merely limits its answers. */
  lossByChance: 0.1,
  /** As rare it must be that a hop answers all packets in spite of the loss that is seen later, to name what follows it. */
  beginByChance: 0.01,
  /** So many packets of a flow with the full TTL that are not answered prove that the target is silent. */
  fullTtlAsked: 5,
  outlier: { minProbes: 4, times: 3, plusMs: 50, stretch: 2.5 },
  /** Places are those of cities: two probes may be nearer to each other by so much than their places. */
  placeErrorKm: 100,
  mtu: { ordinary: 1_500, ipv6Minimum: 1_280 },
} as const;

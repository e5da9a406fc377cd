/**
 * Every key and channel in Redis, and who writes it. Each family has one hash tag, so that on Redis Cluster a family is
 * in one slot. An agent's Redis user reaches `p:{<probe>}:*` alone.
 */
export const redisKeys = {
  /** BullMQ prefix of a probe's queue; with `JOB_QUEUE` the keys are `p:{<probe>}:jobs:*`. Coordinator adds, agent consumes. */
  queuePrefix: (probe: string) => `p:{${probe}}`,
  /** Stream of a probe's results, partial and final. Agent `XADD`s, coordinators read as one consumer group. */
  results: (probe: string) => `p:{${probe}}:res`,
  /** Channel of hints that a probe's stream has something new, some with a `ResultNote`. Agent publishes. */
  resultHint: (probe: string) => `p:{${probe}}:n`,
  /** A probe's heartbeat, JSON, expiring. Agent writes. */
  heartbeat: (probe: string) => `p:{${probe}}:hb`,
  /** The operator's record of a probe, JSON. */
  probeRecord: (probe: string) => `probe:${probe}`,
  /** Set of the ids of all probes with a record. */
  probeIds: 'probes',
  /** Hash of probe id → milliseconds since the epoch of its newest heartbeat seen. Coordinator writes. */
  lastSeen: 'probes:seen',
  /** Hash of probe id → why the coordinator switched its agent's user off, in words. Coordinator writes. */
  switchedOff: 'probes:off',
  /** Held by the coordinator that looks for probes whose keys are too large. Coordinator writes. */
  floodGuard: 'probes:guard',
  /** Record of a check, hash. Coordinator only. */
  check: (id: string) => `check:{${id}}`,
  /** Hash with one field per selected probe: '' until its final result, then JSON. Coordinator only. */
  checkResults: (id: string) => `check:{${id}}:r`,
  /** Hash with the newest partial result per probe. Coordinator only. */
  checkPartials: (id: string) => `check:{${id}}:p`,
  /** The screenshot of a check, taken by this probe: PNG as it is. Coordinator only. */
  checkScreenshot: (id: string, probe: string) => `check:{${id}}:b:${probe}`,
  /** Channel of the events of a check. Coordinator only. */
  checkEvents: (id: string) => `check:{${id}}:ev`,
  /** Sorted set of check ids by deadline (milliseconds since the epoch, clock of Redis). Coordinator only. */
  deadlines: 'deadlines',
  /** There for a minute after the clock of Redis was stepped back and the deadlines with it. Coordinator only. */
  deadlinesMoved: '{deadlines}:moved',
  /** Sorted set of `<check id> <probe>`: screenshots that a probe is at, by the check's deadline. Coordinator only. */
  screenshots: 'screenshots',
  /** Sorted set of `<check id> <probe> <bytes>`: the pictures that are kept, by when they came. Coordinator only. */
  pictures: '{pictures}',
  /** Bytes of all pictures that are kept. Coordinator only. */
  pictureBytes: '{pictures}:bytes',
  /** Ledger of what completed checks take, by client; what begins with it is part of it. Coordinator only. */
  resultLedger: '{results}',
  /** What the first request with an idempotency key was answered, by a digest of client and key. Coordinator only. */
  firstAnswer: (digest: string) => `first:${digest}`,
  /** Prefix of the counters of the rate limits. */
  rateLimitPrefix: 'rl:',
} as const;

/** Name of every probe's BullMQ queue; the prefix tells them apart. */
export const JOB_QUEUE = 'jobs';

/** Consumer group of the coordinators on every result stream. */
export const RESULT_GROUP = 'coordinators';

/** A heartbeat is written this often and expires after `HEARTBEAT_TTL_MS`: then the probe is offline. */
export const HEARTBEAT_EVERY_MS = 2_000;
export const HEARTBEAT_TTL_MS = 15_000;

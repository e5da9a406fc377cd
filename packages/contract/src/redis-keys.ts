/**
 * All Redis keys and channels. Keys with the same hash tag, in braces, are in one slot of a Redis Cluster. An agent's
 * Redis user can access `p:{<probe>}:*` only. Gateways are parts of coordinators.
 */
export const redisKeys = {
  /**
   * BullMQ prefix of a probe's queue; with `JOB_QUEUE` the keys are `p:{<probe>}:jobs:*`. Coordinators add jobs, the
   * agent or its gateway consumes them.
   */
  queuePrefix: (probe: string) => `p:{${probe}}`,
  /**
   * Stream of a probe's results, partial and final, and screenshots. The agent or its gateway adds; coordinators read
   * as one consumer group.
   */
  results: (probe: string) => `p:{${probe}}:res`,
  /**
   * Channel that announces new stream entries, optionally with an inline result, and changed heartbeats. The agent or
   * its gateway publishes.
   */
  resultNotification: (probe: string) => `p:{${probe}}:n`,
  /** A probe's heartbeat, JSON, with a TTL. Written by the agent, or by the gateway that it is connected to. */
  heartbeat: (probe: string) => `p:{${probe}}:hb`,
  /** The operator's record of a probe, JSON. */
  probeRecord: (probe: string) => `probe:${probe}`,
  /** Set of the ids of all probes with a record. */
  probeIds: 'probes',
  /**
   * Hash of probe id → time of the newest heartbeat, milliseconds since the epoch; with `|` and a name behind the id,
   * further fields of the probe. Coordinators and operator commands only.
   */
  lastSeen: 'probes:seen',
  /** Hash of probe id → reason for which the probe is suspended. Coordinators and operator commands. */
  suspended: 'probes:off',
  /**
   * Hash of `<job id> <probe>` → failure, JSON: jobs that a suspension or removal has taken out of the queue, and whose
   * results are not written yet. Operator commands and coordinators.
   */
  withdrawnJobs: 'probes:withdrawn',
  /**
   * Hash of probe id → addresses at which other probes may measure it, with spaces between. Operator commands write,
   * coordinators read.
   */
  offeredAddresses: 'probes:offers',
  /**
   * Hash of probe id → `host:port` of its agent's metrics, for Prometheus. Operator commands write, coordinators read.
   */
  metricsAddresses: 'probes:metrics',
  /** Lock of the coordinator that measures the key sizes of probes. Written by coordinators. */
  keyQuotaLock: 'probes:guard',
  /** Hash of probe id → state of its enrolled agent, JSON. Coordinators and operator commands only. */
  agentAccess: '{agents}:access',
  /** Public key of a probe's agent and its latest connection, hash. Coordinators and operator commands only. */
  agentKey: (probe: string) => `{agents}:key:${probe}`,
  /** Sorted set of the newest counters that a probe's agent has signed. Coordinators and operator commands only. */
  agentCounters: (probe: string) => `{agents}:used:${probe}`,
  /** Hash of token digest → invitation, JSON, of a probe. Coordinators and operator commands only. */
  invitations: (probe: string) => `{agents}:invites:${probe}`,
  /** Stream of probe ids whose agent changed its state; bounded. Coordinators and operator commands only. */
  agentChanges: '{agents}:changes',
  /** Channel that announces an entry of `agentChanges`. Coordinators and operator commands only. */
  agentChanged: '{agents}:changed',
  /**
   * Hash of name → record of an API key, JSON; it has digests, no secrets. Operator commands write, coordinators read.
   */
  apiKeys: '{keys}:records',
  /** Random text, a new one for every change of the records of API keys. Operator commands write, coordinators read. */
  apiKeysRevision: '{keys}:revision',
  /** Hash of agent instance → gateway that holds its connection, of a probe. Gateways only. */
  agentConnections: (probe: string) => `{agents}:connections:${probe}`,
  /** Channel that announces a new connection of an agent: probe, counter and instance. Gateways only. */
  agentConnected: '{agents}:connected',
  /** Lease of a gateway and of the agents connected to it, with a TTL. Gateways write, coordinators read. */
  gateway: (id: string) => `gateway:${id}`,
  /** Channel that announces new jobs: ids of their probes, with spaces between. Written by coordinators. */
  jobsAdded: 'jobs:added',
  /**
   * Channel that announces a check that no client follows any more: its id and its probes, with spaces between.
   * Coordinators only.
   */
  jobsAbandoned: 'jobs:abandoned',
  /**
   * Public base address of the service. Coordinators write it at start, and again at an interval in case Redis lost it.
   */
  serviceUrl: 'service:url',
  /**
   * Public addresses that coordinators announced within a day, sorted set by time: `set <URL>`, or `default <URL>` of a
   * listening address. Coordinators only.
   */
  serviceUrls: 'service:urls',
  /** Record of a check, hash. Coordinators only. */
  check: (id: string) => `check:{${id}}`,
  /** Hash with one field per selected probe: '' until its final result, then JSON. Coordinators only. */
  checkResults: (id: string) => `check:{${id}}:r`,
  /** Hash with the newest partial result per probe. Coordinators only. */
  checkPartials: (id: string) => `check:{${id}}:p`,
  /** Screenshot of a check that this probe took, PNG. Coordinators only. */
  checkScreenshot: (id: string, probe: string) => `check:{${id}}:b:${probe}`,
  /**
   * Sorted set of the coordinators that have an event stream of a check, by the end of their lease (ms, Redis clock);
   * only for a check that ends with its streams. Coordinators only.
   */
  checkFollowers: (id: string) => `check:{${id}}:f`,
  /**
   * Grant for a check that is pipelined with its rate-limit command: the rate-limit script writes it if it admits the
   * check, and the script that starts the check deletes it. Coordinators only.
   */
  checkGrant: (id: string) => `check:{${id}}:g`,
  /** Channel of a check's events. Coordinators only. */
  checkEvents: (id: string) => `check:{${id}}:ev`,
  /** Sorted set of check ids by deadline (milliseconds since the epoch, Redis clock). Coordinators only. */
  deadlines: 'deadlines',
  /** Total milliseconds by which deadlines were moved because the Redis clock was stepped back. Coordinators only. */
  deadlinesMoved: '{deadlines}:moved-ms',
  /** Never exists: a write to it tests whether Redis accepts writes. Coordinators and operator commands. */
  writeTest: '{deadlines}:write-test',
  /** Sorted set of `<check id> <probe>`: screenshots in progress, by the check's deadline. Coordinators only. */
  screenshots: 'screenshots',
  /** Sorted set of `<check id> <probe> <bytes>`: stored screenshots by time of arrival. Coordinators only. */
  screenshotSizes: '{pictures}',
  /** Total bytes of stored screenshots. Coordinators only. */
  screenshotBytes: '{pictures}:bytes',
  /** Prefix of the accounting of stored results by client. Coordinators only. */
  resultAccounting: '{results}',
  /** Prefix of the accounting of the records of removed checks by client. Coordinators only. */
  removedAccounting: '{results}:removed',
  /** Stored response of the first request with an idempotency key, by a digest of client and key. Coordinators only. */
  idempotencyRecord: (digest: string) => `first:${digest}`,
  /** Hash of monitor name → definition, JSON. Coordinators only, as all keys of monitors. */
  monitors: '{monitors}:definitions',
  /** Sorted set of monitor names by the time of the next tick, or at which a claim of it expires (ms, Redis clock). */
  monitorsDue: '{monitors}:due',
  /** Hash of monitor name → claimed tick whose check has not been confirmed, JSON. */
  monitorClaims: '{monitors}:claims',
  /** Hash of monitor name → number of its last claimed tick. */
  monitorTicks: '{monitors}:ticks',
  /**
   * Hash of the name of a removed monitor → number of its last claimed tick, while messages about it may wait. A new
   * monitor of that name continues the numbering.
   */
  monitorsEnded: '{monitors}:ended',
  /** Sorted set of the names in `monitorsEnded` by the time of their removal (ms, Redis clock). */
  monitorsEndedAt: '{monitors}:ended-at',
  /** Sorted set of monitor names with unevaluated ticks, by the time at which any coordinator evaluates them. */
  monitorsOpen: '{monitors}:open',
  /** List of a monitor's started and unevaluated ticks, JSON, oldest first. */
  monitorOpenTicks: (name: string) => `{monitors}:open:${name}`,
  /** State of a monitor, JSON. */
  monitorState: (name: string) => `{monitors}:state:${name}`,
  /** List of the last runs of a monitor, JSON, newest first. */
  monitorRuns: (name: string) => `{monitors}:runs:${name}`,
  /** Stream of a monitor's last events, JSON. */
  monitorEvents: (name: string) => `{monitors}:events:${name}`,
  /** List of the last ticks of a monitor with a change of the path, JSON, newest first. */
  monitorPaths: (name: string) => `{monitors}:paths:${name}`,
  /** Outcome of the traceroute after a monitor's change to bad, JSON. */
  monitorParting: (name: string) => `{monitors}:parting:${name}`,
  /** Channel that announces the name of a monitor whose tick was evaluated, or that was changed or removed. */
  monitorsChanged: '{monitors}:changed',
  /**
   * Sorted set of tasks, such as those after a change of state, JSON, by the time at which any coordinator does them
   * (ms, Redis clock).
   */
  monitorOutbox: '{monitors}:outbox',
  /** BullMQ prefix of the messages to webhooks; with `WEBHOOK_QUEUE` the keys are `{monitors}:webhooks:*`. */
  webhookQueuePrefix: '{monitors}',
  /** Digest of the file whose monitors were applied last, and the number of applications so far. */
  monitorsFile: '{monitors}:file',
  /** Prefix of the rate-limit counters. */
  rateLimitPrefix: 'rl:',
} as const;

/** BullMQ queue name, the same for all probes; the prefix separates them. */
export const JOB_QUEUE = 'jobs';

/** BullMQ queue name of the messages to webhooks. */
export const WEBHOOK_QUEUE = 'webhooks';

/** Consumer group of the coordinators on all result streams. */
export const RESULT_GROUP = 'coordinators';

/** A draining agent still takes jobs for this long, so that coordinators can learn of it. */
export const LAST_JOBS_MS = 1_000;

/** Time after which an agent writes an unchanged heartbeat again. */
export const HEARTBEAT_EVERY_MS = 5_000;
/** Time to live of a heartbeat; without one the probe is offline. */
export const HEARTBEAT_TTL_MS = 15_000;

/** Time to live of the heartbeat of an agent at a gateway, which also ends with the lease of its gateway. */
export const GATEWAY_HEARTBEAT_TTL_MS = 3_600_000;

import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { BackgroundTask } from '../redis/background-tasks.ts';
import type { Store } from '../redis/open-store.ts';
import type { Script } from '../redis/scripts.ts';
import { onStore } from '../redis/store.ts';
import { announcedUrl } from './announced-url.ts';
import { createAccessWatch, POLL_INTERVAL_MS, type AccessWatch } from './enrolment/access-watch.ts';
import { enrolmentScripts } from './enrolment/access-scripts.ts';
import {
  createExcessWatch,
  notificationFlood,
  oversizedHeartbeats,
  oversizedWrites,
  type ExcessWatch,
} from './access/excess-watch.ts';
import { createKeptJobs } from './access/kept-jobs.ts';
import { createKeyQuota, QUOTA_EVERY_MS } from './key-quota.ts';
import { createProbeList } from './registry/list-probes.ts';
import { createProbeDirectory, type ProbeDirectory } from './registry/probe-directory.ts';
import type { ProbeList } from './registry/probe-list.ts';
import { createProbeRecords, type ProbeRecords } from './registry/probe-records.ts';
import { isHealthy } from './registry/probe-status.ts';
import { createProbeValidators } from './registry/probe-validators.ts';
import { readProbesScript } from './registry/reading/read-probes.ts';

/** Interval at which refused writes are detected. */
const WRITES_EVERY_MS = 500;
/** Reply timeout of the key quota, longer than for other commands: a flood also slows the commands that end it. */
const QUOTA_REPLY_MS = 8_000;
const PROBE_KEYS_MAX_BYTES = 256 * 1_048_576;

export interface ProbeServiceOptions {
  /** Maximum bytes of a probe's keys in Redis before its agent is suspended. Default 256 MiB. */
  readonly probeKeysMaxBytes?: number | undefined;
  /** Interval at which the quotas of agents are enforced, milliseconds. Default 1 s; tests do not wait as long. */
  readonly quotaEveryMs?: number | undefined;
}

/** The probes: registry, selection, access, and quotas of their agents. */
export interface ProbeService {
  readonly directory: ProbeDirectory;
  /** State of the access of agents that connect to gateways, such as invited or suspended, as of the last poll. */
  readonly access: AccessWatch;
  readonly list: ProbeList;
  readonly records: ProbeRecords;
  /** Counts agents' stream entries and notifications above the size limit. */
  readonly oversize: ExcessWatch;
  /** Counts agents' notifications. */
  readonly notifications: ExcessWatch;
  /**
   * Stores the service's public URL in Redis, for operator commands such as `probe:invite`; the listening address, if
   * none is configured, does not replace one that is.
   */
  readonly announceUrl: (url: string, isConfigured: boolean) => void;
  /** Rejects if Redis is unavailable. */
  readonly countHealthy: () => Promise<number>;
  readonly scripts: readonly Script[];
  readonly tasks: readonly BackgroundTask[];
}

export function createProbeService(store: Store, options: ProbeServiceOptions): ProbeService {
  const { requests, clock, writes, log } = store;
  const validators = createProbeValidators();
  const access = createAccessWatch(store.background);
  store.channels.listen(redisKeys.agentChanged, () => void access.poll().catch(() => undefined));
  const url = announcedUrl(store.background, clock, log);
  const oversize = createExcessWatch(store.background, log, oversizedWrites);
  const notifications = createExcessWatch(store.background, log, notificationFlood);
  const directory = createProbeDirectory({
    redis: requests,
    clock,
    validators,
    access,
    writes,
    oversize: createExcessWatch(store.background, log, oversizedHeartbeats),
    keptJobs: createKeptJobs(store.background, log),
    log,
  });
  return {
    directory,
    access,
    oversize,
    notifications,
    list: createProbeList(requests, clock, directory),
    records: createProbeRecords(requests, validators),
    announceUrl: url.announce,
    countHealthy: async () => (await directory.probes()).filter(isHealthy).length,
    scripts: [readProbesScript, ...enrolmentScripts],
    tasks: [
      { name: 'writes', everyMs: WRITES_EVERY_MS, run: writes.poll },
      { name: 'agent access', everyMs: POLL_INTERVAL_MS, run: access.poll },
      url.task,
      keyQuotas(store.open('guard', { replyWithinMs: QUOTA_REPLY_MS }), store, options),
    ],
  };
}

function keyQuotas(
  redis: Redis,
  { log }: Store,
  { probeKeysMaxBytes = PROBE_KEYS_MAX_BYTES, quotaEveryMs = QUOTA_EVERY_MS }: ProbeServiceOptions,
): BackgroundTask {
  const { poll } = createKeyQuota({ redis, log, limitBytes: probeKeysMaxBytes, everyMs: quotaEveryMs });
  return {
    name: 'key quotas',
    everyMs: quotaEveryMs,
    run: async () => {
      await onStore(redis, poll);
    },
  };
}

import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { BackgroundTask } from '../redis/background-tasks.ts';
import type { Store } from '../redis/open-store.ts';
import type { Script } from '../redis/scripts.ts';
import { onStore } from '../redis/store.ts';
import { createAccessWatch, LOOK_EVERY_MS, type AccessWatch } from './enrolment/access-watch.ts';
import { enrolmentScripts } from './enrolment/access-scripts.ts';
import { createExcessWatch, notificationFlood, oversizedWrites, type ExcessWatch } from './access/excess-watch.ts';
import { createFloodGuard } from './key-quota.ts';
import { createProbeList } from './registry/list-probes.ts';
import { createProbeDirectory, type ProbeDirectory } from './registry/probe-directory.ts';
import type { ProbeList } from './registry/probe-list.ts';
import { createProbeRecords, type ProbeRecords } from './registry/probe-records.ts';
import { isHealthy } from './registry/probe-status.ts';
import { createProbeValidators } from './registry/probe-validators.ts';
import { readProbesScript } from './registry/read-probes.ts';

/** How soon an agent that floods its keys is noticed; the coordinators take turns. */
const QUOTA_EVERY_MS = 1_000;
/** Operators learn within two seconds that Redis refuses writes. */
const WRITES_EVERY_MS = 500;
/** A flood makes Redis slow for everyone, and for what ends it. */
const QUOTA_REPLY_MS = 8_000;
/** Redis may have been away at the start, or have lost the address. */
const URL_LOOK_MS = 2_000;
const URL_AGAIN_MS = 60_000;
const PROBE_KEYS_MAX_BYTES = 256 * 1_048_576;

export interface ProbeServiceOptions {
  /** Bytes that the keys of one probe may take in Redis before its agent is switched off; 256 MiB where absent. */
  readonly probeKeysMaxBytes?: number | undefined;
}

/** The probes: who they are, how they are, and what their agents may take. */
export interface ProbeService {
  readonly directory: ProbeDirectory;
  /** Enrolment of the agents that connect to gateways. */
  readonly access: AccessWatch;
  readonly list: ProbeList;
  readonly records: ProbeRecords;
  /** Takes writes of agents that are larger than any agent's. */
  readonly oversize: ExcessWatch;
  /** Takes notifications of agents. */
  readonly notifications: ExcessWatch;
  /** Keeps the public address of the service in Redis, for `probe:invite`. */
  readonly announceUrl: (url: string) => void;
  /** Rejects without Redis. */
  readonly countHealthy: () => Promise<number>;
  readonly scripts: readonly Script[];
  readonly tasks: readonly BackgroundTask[];
}

export function createProbeService(store: Store, options: ProbeServiceOptions): ProbeService {
  const { requests, clock, writes, log } = store;
  const validators = createProbeValidators();
  const access = createAccessWatch(store.background);
  store.channels.listen(redisKeys.agentChanged, () => void access.look().catch(() => undefined));
  const url = announcedUrl(store.background);
  const oversize = createExcessWatch(store.background, log, oversizedWrites);
  const notifications = createExcessWatch(store.background, log, notificationFlood);
  const directory = createProbeDirectory({ redis: requests, clock, validators, access, writes, oversize, log });
  return {
    ...{ directory, access, oversize, notifications },
    list: createProbeList(requests, clock, directory),
    records: createProbeRecords(requests, validators),
    announceUrl: url.announce,
    countHealthy: async () => (await directory.probes()).filter(isHealthy).length,
    scripts: [readProbesScript, ...enrolmentScripts],
    tasks: [
      { name: 'writes', everyMs: WRITES_EVERY_MS, run: writes.look },
      { name: 'agent access', everyMs: LOOK_EVERY_MS, run: access.look },
      url.task,
      keyQuotas(store.open('guard', { replyWithinMs: QUOTA_REPLY_MS }), store, options),
    ],
  };
}

function announcedUrl(redis: Redis): { readonly announce: (url: string) => void; readonly task: BackgroundTask } {
  let url: string | undefined;
  let writtenAt = Number.NEGATIVE_INFINITY;
  const run = async (): Promise<void> => {
    if (url === undefined || performance.now() - writtenAt < URL_AGAIN_MS) return;
    const text = url;
    await onStore(redis, (ready) => ready.set(redisKeys.serviceUrl, text));
    writtenAt = performance.now();
  };
  return {
    announce: (given) => {
      url = given;
      void run().catch(() => undefined);
    },
    task: { name: 'service url', everyMs: URL_LOOK_MS, run },
  };
}

function keyQuotas(redis: Redis, { log }: Store, { probeKeysMaxBytes }: ProbeServiceOptions): BackgroundTask {
  const { look } = createFloodGuard({ redis, log, limitBytes: probeKeysMaxBytes ?? PROBE_KEYS_MAX_BYTES });
  return {
    name: 'key quotas',
    everyMs: QUOTA_EVERY_MS,
    run: async () => {
      await onStore(redis, look);
    },
  };
}

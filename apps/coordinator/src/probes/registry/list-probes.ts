import type { Redis } from 'ioredis';

import type { RedisClock } from '../../redis/clock.ts';
import { onStore } from '../../redis/store.ts';
import type { ProbeDirectory } from './probe-directory.ts';
import { readMetricsAddresses } from '../metrics-addresses.ts';
import { readOffers } from '../offers.ts';
import { describeAgent, describeProbe, isListed, type KnownProbe } from './probe-status.ts';
import type { ProbeList } from './probe-list.ts';

/**
 * Lists the probes and their agents in the public form. The maps have no prototype, because a probe may be named like
 * an inherited property.
 */
export function createProbeList(redis: Redis, clock: RedisClock, directory: ProbeDirectory): ProbeList {
  const listed = async <T>(
    known: readonly KnownProbe[],
    describe: (probe: KnownProbe) => T,
  ): Promise<Readonly<Record<string, T>>> => {
    const nowMs = await onStore(redis, clock.now);
    const list = Object.create(null) as Record<string, T>;
    for (const probe of known) if (isListed(probe, nowMs)) list[probe.record.id] = describe(probe);
    return list;
  };
  return {
    list: async () => {
      const [known, offers] = await Promise.all([directory.probes(), onStore(redis, readOffers)]);
      return listed(known, (probe) => describeProbe(probe, offers.get(probe.record.id)));
    },
    agents: async () => listed(await directory.probes(), describeAgent),
    metricsAddresses: () => onStore(redis, readMetricsAddresses),
  };
}

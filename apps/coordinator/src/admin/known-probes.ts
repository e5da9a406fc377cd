import type { Redis } from 'ioredis';

import { createAccessWatch } from '../probes/enrolment/access-watch.ts';
import { createProbeDirectory } from '../probes/registry/probe-directory.ts';
import type { KnownProbe } from '../probes/registry/probe-status.ts';
import { createProbeValidators } from '../probes/registry/probe-validators.ts';
import { createRedisClock } from '../redis/clock.ts';

/**
 * Reads all probes as a coordinator does, once, and stores when they were last seen.
 *
 * @param refusal why Redis refuses writes; undefined if it does not
 */
export async function readKnownProbes(redis: Redis, refusal?: string): Promise<readonly KnownProbe[]> {
  const access = createAccessWatch(redis);
  await access.poll();
  const ignore = (): void => undefined;
  const directory = createProbeDirectory({
    redis,
    access,
    clock: createRedisClock(),
    validators: createProbeValidators(),
    writes: { refusal: () => refusal },
    oversize: { note: ignore },
    keptJobs: { note: ignore },
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  });
  return directory.refresh();
}

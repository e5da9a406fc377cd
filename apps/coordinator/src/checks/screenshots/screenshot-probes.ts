import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { KnownProbe } from '../../probes/registry/probe-status.ts';
import { onStore } from '../../redis/store.ts';
import { fromStored } from '../store/stored-json.ts';
import { selectScreenshotProbe } from './select-screenshot-probe.ts';

/** Selects the probes that take screenshots, by how many each of them is taking. */
export class ScreenshotProbes {
  private readonly redis: Redis;
  private readonly known: () => Promise<readonly KnownProbe[]>;
  /** Screenshots pending at each probe as of the last count, plus those that this coordinator requested since. */
  private underWay = new Map<string, number>();

  /** @param known the probes, as of a refresh at most 1.5 s ago */
  constructor(redis: Redis, known: () => Promise<readonly KnownProbe[]>) {
    this.redis = redis;
    this.known = known;
  }

  select(known: readonly KnownProbe[], among: readonly string[], except?: readonly string[]): string | undefined {
    const probe = selectScreenshotProbe(known, { among, except, underWay: (id) => this.underWay.get(id) ?? 0 });
    // An estimate: the next count has the requests of all coordinators.
    if (probe !== undefined) this.underWay.set(probe, (this.underWay.get(probe) ?? 0) + 1);
    return probe;
  }

  /** Selects the next probe. Skips probes whose own result is final and without a page: they would fail again. */
  async next(id: string, among: readonly string[], asked: readonly string[]): Promise<string | undefined> {
    const known = await this.known();
    const except = [...asked];
    for (;;) {
      const probe = this.select(known, among, except);
      if (probe === undefined) return undefined;
      const result = await onStore(this.redis, () => this.redis.hget(redisKeys.checkResults(id), probe));
      if (typeof result !== 'string' || result === '' || hasPage(fromStored(result))) return probe;
      // A concurrent count may have reset the number.
      this.underWay.set(probe, Math.max(0, (this.underWay.get(probe) ?? 0) - 1));
      except.push(probe);
    }
  }

  /** @param pending the probe of each pending screenshot, of all coordinators */
  count(pending: readonly string[]): void {
    this.underWay = new Map();
    for (const probe of pending) this.underWay.set(probe, (this.underWay.get(probe) ?? 0) + 1);
  }
}

/** True for a result with any HTTP status; false if it failed before one. */
function hasPage(json: string): boolean {
  return (JSON.parse(json) as { readonly statusCode?: unknown }).statusCode !== undefined;
}

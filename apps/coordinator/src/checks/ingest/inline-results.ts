import type { AnyCheckType, InlineResult } from '@vantage/contract';
import { isTraceparent } from '@vantage/telemetry';
import { LRUCache } from 'lru-cache';

import { acceptResult, type AcceptDependencies } from './validate-result.ts';
import { commitFinal, type CommitDependencies } from './commit-result.ts';
import { createBatchedWrites, type WriteBatched } from './batched-writes.ts';

export interface InlineResultDependencies extends AcceptDependencies, CommitDependencies {
  /** True for a grace period after an outage of Redis, in which no result is late. */
  readonly isGrace: () => boolean;
}

/** Final results that come inside a notification; they are committed one round trip before the stream could be read. */
export interface InlineResults {
  /**
   * Commits a valid, timely, complete result. Everything else is left to the stream entry, and so is a repeated result
   * and one beyond the limit of concurrent commits per probe. Never rejects.
   *
   * @returns whether it was committed
   */
  readonly commit: (probe: string, note: InlineResult, checkType: AnyCheckType) => Promise<boolean>;
  /**
   * Resolves to whether the inline copy of a stream entry was committed; undefined if no attempt is remembered. Can be
   * asked once per result. Never rejects.
   */
  readonly wasCommitted: (probe: string, check: string) => Promise<boolean> | undefined;
  /** Forgets a committed result whose stream entry is deleted. */
  readonly forget: (probe: string, check: string) => void;
}

/** Limit of remembered results: entries that another coordinator reads never arrive here. */
const REMEMBERED = 1_000;
/** Maximum concurrent commits per probe: notifications arrive without a bound; entries are read in batches. */
const AT_ONCE = 8;

export function createInlineResults(dependencies: InlineResultDependencies): InlineResults {
  const committed = new LRUCache<string, Promise<boolean>>({ max: REMEMBERED });
  const underWay = new Map<string, number>();
  const { redis, deadlines, readers, retentionMs } = dependencies;
  const together = createBatchedWrites({ redis, deadlines, readers, retentionMs });
  const count = (probe: string, change: number): void => {
    const now = (underWay.get(probe) ?? 0) + change;
    if (now === 0) underWay.delete(probe);
    else underWay.set(probe, now);
  };
  return {
    commit: (probe, note, checkType) => {
      const key = keyOf(probe, note.check);
      if (committed.has(key) || (underWay.get(probe) ?? 0) >= AT_ONCE) return Promise.resolve(false);
      count(probe, 1);
      const committing = commitInline(dependencies, together, probe, note, checkType).finally(() => count(probe, -1));
      committed.set(key, committing);
      return committing;
    },
    wasCommitted: (probe, check) => {
      const key = keyOf(probe, check);
      const isCommitted = committed.get(key);
      committed.delete(key);
      return isCommitted;
    },
    forget: (probe, check) => void committed.delete(keyOf(probe, check)),
  };
}

function keyOf(probe: string, check: string): string {
  return `${probe} ${check}`;
}

async function commitInline(
  dependencies: InlineResultDependencies,
  together: WriteBatched,
  probe: string,
  { check, data, traceparent }: InlineResult,
  checkType: AnyCheckType,
): Promise<boolean> {
  const { redis, clock, isGrace, counters } = dependencies;
  const startedAt = performance.now();
  try {
    const now = await clock.now(redis);
    const accepted = acceptResult(dependencies, checkType, { kind: 'final', data, writtenAtMs: now });
    if (accepted.kind !== 'final' || !accepted.valid) return false;
    // The partial results to be merged into this result may still be unread in the stream.
    if (accepted.isCutShort) return false;
    const place = isTraceparent(traceparent) ? traceparent : undefined;
    const final = { probe, check, checkType, accepted, startedAt, writtenAtMs: now, traceparent: place };
    if ((await commitFinal(dependencies, final, isGrace() ? 0 : now, together)) !== 'applied') return false;
    counters.resultsApplied += 1;
    return true;
  } catch {
    return false;
  }
}

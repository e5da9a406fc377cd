import type { AnyCheckType, CommonResult } from '@vantage/contract';
import type { Tracing } from '@vantage/telemetry';
import type { Redis } from 'ioredis';

import type { RedisClock } from '../../redis/clock.ts';
import { onStore } from '../../redis/store.ts';
import type { Accepted } from './validate-result.ts';
import type { WriteBatched } from './batched-writes.ts';
import { readPartial } from '../store/records/check-records.ts';
import { writeFinals, type CommitOutcome, type WaitingReaders } from '../store/records/write-results.ts';
import { withMeasured } from '../store/synthetic-results.ts';
import type { Counters } from '../store/counters.ts';
import type { Deadlines } from '../store/deadlines.ts';
import type { CheckMetrics, FinalResult } from '../check-metrics.ts';

export interface CommitDependencies {
  readonly redis: Redis;
  readonly deadlines: Deadlines;
  readonly readers: WaitingReaders;
  readonly retentionMs: number;
  readonly counters: Counters;
  readonly clock: Pick<RedisClock, 'now'>;
  readonly tracing: Tracing;
  readonly metrics?: Pick<CheckMetrics, 'committed'> | undefined;
}

export interface AcceptedFinal extends Pick<FinalResult, 'probe' | 'writtenAtMs' | 'traceparent'> {
  readonly check: string;
  readonly checkType: AnyCheckType;
  readonly accepted: Extract<Accepted, { readonly kind: 'final' }>;
  /** When the coordinator began to process the result: monotonic clock, milliseconds. */
  readonly startedAt: number;
}

/**
 * Writes an accepted final result, or the failure that replaces an invalid one, into its check.
 *
 * @param writtenAt time that is compared with the deadline, milliseconds since the epoch; 0 means in time
 * @param together writes the result in one script with others
 */
export async function commitFinal(
  dependencies: CommitDependencies,
  { probe, check, checkType, accepted, startedAt, writtenAtMs, traceparent }: AcceptedFinal,
  writtenAt: number,
  together?: WriteBatched,
): Promise<CommitOutcome> {
  const { redis, retentionMs, deadlines, readers, counters } = dependencies;
  const alone = async (): Promise<CommitOutcome | undefined> => {
    const json = accepted.isCutShort ? await withPartial(redis, check, probe, accepted.json) : accepted.json;
    return (await writeFinals(redis, check, [[probe, json]], { retentionMs, deadlines, readers, writtenAt }))[0];
  };
  const said =
    (await (together?.({ check, probe, json: accepted.json, writtenAt }) ?? onStore(redis, alone))) ?? 'unknown';
  if (said !== 'applied') return said;
  if (!accepted.valid) counters.resultsInvalid += 1;
  tell(dependencies, {
    checkId: check,
    probe,
    type: checkType.type,
    result: accepted.valid ? accepted.result : 'error',
    writtenAtMs,
    tookMs: performance.now() - startedAt,
    traceparent,
  });
  return said;
}

/** Records the commit in the trace and the metrics. */
function tell({ redis, clock, tracing, metrics }: CommitDependencies, final: FinalResult): void {
  const { type, probe, result, checkId, tookMs, traceparent, writtenAtMs } = final;
  if (traceparent !== undefined) {
    const attributes = {
      'vantage.probe': probe,
      'vantage.check.id': checkId,
      'vantage.check.type': type,
      'vantage.result': result,
    };
    tracing
      .start('commit result', { kind: 'consumer', traceparent, startedAtMs: Date.now() - tookMs, attributes })
      .end();
  }
  if (metrics === undefined) return;
  clock.now(redis).then(
    (nowMs) => metrics.committed(final, nowMs - writtenAtMs),
    () => undefined,
  );
}

/** Merges the probe's newest partial result into a final result that was cut short. */
async function withPartial(redis: Redis, check: string, probe: string, final: string): Promise<string> {
  const partial = await readPartial(redis, check, probe);
  if (partial === undefined) return final;
  return JSON.stringify(
    withMeasured(JSON.parse(final) as CommonResult, JSON.parse(partial) as Record<string, unknown>),
  );
}

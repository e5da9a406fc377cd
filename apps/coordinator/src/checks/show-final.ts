import type { AnyCheckType } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { onStore } from '../redis/store.ts';
import type { Accepted } from './accept-result.ts';
import { settle, type Settlement, type WaitingReaders } from './check-records.ts';
import type { Counters } from './counters.ts';
import type { Deadlines } from './deadlines.ts';
import type { FinalResult } from './final-result.ts';

export interface ShowFinalDependencies {
  readonly redis: Redis;
  readonly deadlines: Deadlines;
  readonly readers: WaitingReaders;
  readonly retentionMs: number;
  readonly counters: Counters;
  /** Told of each final result that has been shown. */
  readonly onFinal?: ((final: FinalResult) => void) | undefined;
}

export interface AcceptedFinal extends Pick<FinalResult, 'probe' | 'writtenAtMs' | 'traceparent'> {
  readonly check: string;
  readonly checkType: AnyCheckType;
  readonly accepted: Extract<Accepted, { readonly kind: 'final' }>;
  /** Monotonic, milliseconds. */
  readonly startedAt: number;
}

/**
 * Writes an accepted final result into its check.
 *
 * @param writtenAt what is compared with the deadline, milliseconds since the epoch; 0: in time
 */
export async function showFinal(
  { redis, retentionMs, deadlines, readers, counters, onFinal }: ShowFinalDependencies,
  { probe, check, checkType, accepted, startedAt, writtenAtMs, traceparent }: AcceptedFinal,
  writtenAt: number,
): Promise<Settlement> {
  const [said = 'unknown'] = await onStore(redis, () =>
    settle(redis, check, [[probe, accepted.json]], { retentionMs, deadlines, readers, writtenAt }),
  );
  if (said !== 'applied') return said;
  if (!accepted.valid) counters.resultsInvalid += 1;
  onFinal?.({
    ...{ checkId: check, probe, type: checkType.type, result: accepted.valid ? accepted.result : 'error' },
    ...{ writtenAtMs, tookMs: performance.now() - startedAt, traceparent },
  });
  return said;
}

import type { AnyCheckType, ResultNote } from '@vantage/contract';
import { isTraceparent } from '@vantage/telemetry';

import type { RedisClock } from '../redis/clock.ts';
import { acceptResult, type AcceptDependencies } from './accept-result.ts';
import { showFinal, type ShowFinalDependencies } from './show-final.ts';

export interface ResultsAheadDependencies extends AcceptDependencies, ShowFinalDependencies {
  readonly clock: Pick<RedisClock, 'now'>;
  /** True for a moment after an outage of Redis, in which no result is late. */
  readonly isGrace: () => boolean;
}

/** Final results that came with the hint of their entry: they are shown a round trip before the stream could be read. */
export interface ResultsAhead {
  /** Shows a valid result that is in time. Whatever else it is, its entry decides. Never rejects. */
  readonly show: (probe: string, note: ResultNote, checkType: AnyCheckType) => void;
  /** For the entry of a final result: whether it was shown already, once that is known; asked once. Never rejects. */
  readonly wasShown: (probe: string, check: string) => Promise<boolean> | undefined;
}

/** The entry of one never comes where another coordinator takes it. */
const REMEMBERED = 1_000;

export function createResultsAhead(dependencies: ResultsAheadDependencies): ResultsAhead {
  const shown = new Map<string, Promise<boolean>>();
  return {
    show: (probe, note, checkType) => {
      const key = keyOf(probe, note.check);
      if (shown.has(key)) return;
      const [oldest] = shown.size < REMEMBERED ? [] : shown.keys();
      if (oldest !== undefined) shown.delete(oldest);
      shown.set(key, showAhead(dependencies, probe, note, checkType));
    },
    wasShown: (probe, check) => {
      const key = keyOf(probe, check);
      const whether = shown.get(key);
      shown.delete(key);
      return whether;
    },
  };
}

function keyOf(probe: string, check: string): string {
  return `${probe} ${check}`;
}

async function showAhead(
  dependencies: ResultsAheadDependencies,
  probe: string,
  { check, data, traceparent }: ResultNote,
  checkType: AnyCheckType,
): Promise<boolean> {
  const { redis, clock, isGrace, counters } = dependencies;
  const startedAt = performance.now();
  try {
    const now = await clock.now(redis);
    const accepted = acceptResult(dependencies, checkType, { kind: 'final', data, writtenAtMs: now });
    if (accepted.kind !== 'final' || !accepted.valid) return false;
    const place = isTraceparent(traceparent) ? traceparent : undefined;
    const final = { probe, check, checkType, accepted, startedAt, writtenAtMs: now, traceparent: place };
    if ((await showFinal(dependencies, final, isGrace() ? 0 : now)) !== 'applied') return false;
    counters.resultsApplied += 1;
    return true;
  } catch {
    return false;
  }
}

import type { AnyCheckType, InlineResult } from '@vantage/contract';
import { isTraceparent } from '@vantage/telemetry';

import { acceptResult, type AcceptDependencies } from './validate-result.ts';
import { showFinal, type ShowFinalDependencies } from './commit-result.ts';

export interface ResultsAheadDependencies extends AcceptDependencies, ShowFinalDependencies {
  /** True for a moment after an outage of Redis, in which no result is late. */
  readonly isGrace: () => boolean;
}

/** Final results that came with the hint of their entry: they are shown a round trip before the stream could be read. */
export interface ResultsAhead {
  /**
   * Shows a valid result that is in time. Whatever else it is, its entry decides, and so where too many of the probe are being
   * shown at once. Never rejects.
   */
  readonly show: (probe: string, note: InlineResult, checkType: AnyCheckType) => void;
  /** For the entry of a final result: whether it was shown already, once that is known; asked once. Never rejects. */
  readonly wasShown: (probe: string, check: string) => Promise<boolean> | undefined;
}

/** The entry of one never comes where another coordinator takes it. */
const REMEMBERED = 1_000;
/** Of one probe: a hint is not bounded by the store as an entry is. */
const AT_ONCE = 8;

export function createResultsAhead(dependencies: ResultsAheadDependencies): ResultsAhead {
  const shown = new Map<string, Promise<boolean>>();
  const underWay = new Map<string, number>();
  const count = (probe: string, change: number): void => {
    const now = (underWay.get(probe) ?? 0) + change;
    if (now === 0) underWay.delete(probe);
    else underWay.set(probe, now);
  };
  return {
    show: (probe, note, checkType) => {
      const key = keyOf(probe, note.check);
      if (shown.has(key) || (underWay.get(probe) ?? 0) >= AT_ONCE) return;
      const [oldest] = shown.size < REMEMBERED ? [] : shown.keys();
      if (oldest !== undefined) shown.delete(oldest);
      count(probe, 1);
      const showing = showAhead(dependencies, probe, note, checkType).finally(() => count(probe, -1));
      shown.set(key, showing);
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
  { check, data, traceparent }: InlineResult,
  checkType: AnyCheckType,
): Promise<boolean> {
  const { redis, clock, isGrace, counters } = dependencies;
  const startedAt = performance.now();
  try {
    const now = await clock.now(redis);
    const accepted = acceptResult(dependencies, checkType, { kind: 'final', data, writtenAtMs: now });
    if (accepted.kind !== 'final' || !accepted.valid) return false;
    // What the probe measured may still be in the stream, before the entry of this result.
    if (accepted.isCutShort) return false;
    const place = isTraceparent(traceparent) ? traceparent : undefined;
    const final = { probe, check, checkType, accepted, startedAt, writtenAtMs: now, traceparent: place };
    if ((await showFinal(dependencies, final, isGrace() ? 0 : now)) !== 'applied') return false;
    counters.resultsApplied += 1;
    return true;
  } catch {
    return false;
  }
}

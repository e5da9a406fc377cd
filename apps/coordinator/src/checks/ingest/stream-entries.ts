import type { AnyCheckType, ResultKind } from '@vantage/contract';
import { within } from '@vantage/timers';

import type { ExcessWatch } from '../../probes/access/excess-watch.ts';
import { onStore } from '../../redis/store.ts';
import type { CheckScreenshots } from '../screenshots/screenshots.ts';
import { keepPartial, type CommitOutcome } from '../store/records/write-results.ts';
import type { CheckTypes } from '../store/check-type-cache.ts';
import type { Counters } from '../store/counters.ts';
import type { Acknowledgements } from './acknowledgements.ts';
import { commitFinal } from './commit-result.ts';
import type { InlineResults, InlineResultDependencies } from './inline-results.ts';
import { claimIdle, readNew, type StreamEntry } from './result-stream.ts';
import { acceptResult, registeredAddress } from './validate-result.ts';

export interface EntryDependencies extends InlineResultDependencies {
  readonly types: CheckTypes;
  readonly screenshots: Pick<CheckScreenshots, 'takeIn'>;
  readonly oversize: ExcessWatch;
  /** Fetches the registration of an address in advance; undefined if registries are not queried. Never rejects. */
  readonly preparePlace?: ((address: string) => Promise<void>) | undefined;
}

/**
 * Longest wait for the registration data of addresses in a result: a timely result must be committed well before the
 * check ends.
 */
const PREPARE_MS = 1_000;

/** Reads the entries of result streams, commits their results and marks them for acknowledgement. */
export class StreamEntries {
  private readonly dependencies: EntryDependencies;
  private readonly done: Acknowledgements;
  private readonly inline: InlineResults;

  constructor(dependencies: EntryDependencies, done: Acknowledgements, inline: InlineResults) {
    this.dependencies = dependencies;
    this.done = done;
    this.inline = inline;
  }

  /** @returns true if there may be more */
  async takeNew(probe: string): Promise<boolean> {
    const { redis, oversize } = this.dependencies;
    const { entries, more } = await this.done.alongWith(probe, (ids) => readNew(redis, probe, ids));
    for (const { isOversized } of entries) if (isOversized) oversize.note(probe);
    await this.takeIn(probe, entries);
    return more;
  }

  /** Claims entries that a coordinator read more than `idleMs` ago and has not acknowledged, and takes them in. */
  async takeOver(probe: string, idleMs: number): Promise<void> {
    // Acknowledges first, so that processed entries are not claimed.
    await this.done.flush(probe);
    let cursor: string | undefined;
    do {
      const claimed = await claimIdle(this.dependencies.redis, probe, idleMs, cursor);
      await this.takeIn(probe, claimed.entries);
      cursor = claimed.next;
    } while (cursor !== undefined);
  }

  private async takeIn(probe: string, entries: readonly StreamEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const { redis, types } = this.dependencies;
    const checkTypes = await Promise.all(
      entries.map(async ({ check }) => (check === undefined ? undefined : types.ofCheck(redis, check))),
    );
    await prepareAll(this.dependencies, entries, checkTypes);
    // The scripts of a batch are sent together in the order of the stream, except those of entries that wait for an
    // earlier one.
    const batch = { ...this.dependencies, underWay: new Map<string, Promise<unknown>>() };
    const outcomes = await Promise.allSettled(
      entries.map((entry, index) => takeInOne(batch, this.inline, probe, entry, checkTypes[index])),
    );
    const done = entries.flatMap((entry, index) => (outcomes[index]?.status === 'fulfilled' ? [entry.id] : []));
    this.done.add(probe, done);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }
}

/** Waits, for at most `PREPARE_MS`, for the registrations of addresses in final results. */
async function prepareAll(
  { preparePlace }: EntryDependencies,
  entries: readonly StreamEntry[],
  checkTypes: readonly (AnyCheckType | undefined)[],
): Promise<void> {
  if (preparePlace === undefined) return;
  const addresses = entries.flatMap(({ kind, data }, index) => {
    const checkType = checkTypes[index];
    const address = kind === 'final' && checkType !== undefined ? registeredAddress(checkType, data) : undefined;
    return address === undefined ? [] : [address];
  });
  await within(Promise.all(addresses.map((address) => preparePlace(address))), PREPARE_MS);
}

interface BatchDependencies extends EntryDependencies {
  /** By check: commits of final results that need a read first. Later entries of that check wait for them. */
  readonly underWay: Map<string, Promise<unknown>>;
}

/** Rejects if Redis does not accept the result or screenshot; the entry then stays. */
async function takeInOne(
  dependencies: BatchDependencies,
  inline: InlineResults,
  probe: string,
  { id, check, kind, data, png, traceparent }: StreamEntry,
  checkType: AnyCheckType | undefined,
): Promise<void> {
  const { redis, counters, isGrace, underWay } = dependencies;
  const startedAt = performance.now();
  if (check === undefined) {
    counters.entriesMalformed += 1;
    return;
  }
  const earlier = underWay.get(check);
  if (earlier !== undefined) await earlier.catch(() => undefined);
  const [ms = 0, sequence = 0] = id.split('-').map(Number);
  const writtenAt = isGrace() ? 0 : ms;
  if (kind === 'screenshot') {
    await dependencies.screenshots.takeIn(probe, check, { data, png }, writtenAt);
    return;
  }
  if (checkType === undefined) {
    count(counters, kind, 'unknown');
    return;
  }
  const isCommitted = kind === 'final' ? inline.wasCommitted(probe, check) : undefined;
  if (isCommitted !== undefined && (await isCommitted)) return;
  const accepted = acceptResult(dependencies, checkType, { kind, data, writtenAtMs: ms });
  if (accepted.kind === 'partial') {
    const outcome = accepted.valid
      ? await onStore(redis, () => keepPartial(redis, check, probe, { ms, sequence }, accepted.json))
      : 'foreign';
    count(counters, kind, outcome);
    return;
  }
  const final = { probe, check, checkType, accepted, startedAt, writtenAtMs: ms, traceparent };
  const committing = commitFinal(dependencies, final, writtenAt);
  if (accepted.isCutShort) underWay.set(check, committing);
  count(counters, kind, await committing);
}

const finalCounters = {
  applied: 'resultsApplied',
  duplicate: 'resultsDuplicate',
  late: 'resultsLate',
  foreign: 'resultsForeign',
  unknown: 'resultsUnknown',
} as const satisfies Record<CommitOutcome, keyof Counters>;

function count(counters: Counters, kind: ResultKind, outcome: CommitOutcome): void {
  if (kind === 'final') counters[finalCounters[outcome]] += 1;
  else counters[outcome === 'applied' ? 'partialsApplied' : 'partialsDropped'] += 1;
}

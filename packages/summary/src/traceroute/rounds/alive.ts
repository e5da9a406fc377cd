import { isSilent, type Step, type Trace } from '../trace.ts';

/** A range of rounds, or of entries of a hop, as indexes counted from 0, the end not included. */
export type Span = readonly [start: number, end: number];

/**
 * Converts a run of rounds to indexes of a hop's entries. A hop has fewer entries than there are rounds if the limit of
 * packets of a check does not suffice: then the hops take turns.
 */
export function spanIn(length: number, [start, end]: Span, rounds: number): Span {
  return [Math.ceil((start * length) / rounds), Math.floor((end * length) / rounds)];
}

/**
 * The last hop before the target that answered in rounds in which the target did not. The first of these rounds does
 * not count, since the hop may have answered before the silence began, nor the last one before an answer of the target.
 *
 * @returns undefined if there is none, or if a later one of these hops got no packets in these rounds
 */
export function lastAlive(trace: Trace, target: number, span: Span, rounds: number): Step | undefined {
  const { before, seen } = seenBefore(trace, target, span, rounds);
  const index = seen.findLastIndex((rtts) => rtts.some((rtt) => rtt !== null));
  return seen.slice(index + 1).some((rtts) => rtts.length === 0) ? undefined : before[index];
}

/** True if no hop before the target, hop 1 included, answered in the rounds that count for `lastAlive`. */
export function isNoneAlive(trace: Trace, target: number, span: Span, rounds: number): boolean {
  const { before, seen } = seenBefore(trace, target, span, rounds);
  const isFirst = before[0]?.hop === 1;
  return isFirst && seen.every((rtts) => rtts.length > 0 && rtts.every((rtt) => rtt === null));
}

interface Before {
  /** Hops before the target that answered in some round. */
  readonly before: readonly Step[];
  /** Answers of these hops in the rounds that count. */
  readonly seen: readonly (readonly (number | null)[])[];
}

function seenBefore(trace: Trace, target: number, [start, end]: Span, rounds: number): Before {
  const { hops = [] } = trace.probeResult.result;
  const before = trace.steps.filter((step) => step.hop < target && !isSilent(step));
  const seen = before.map((step) => {
    const rtts = hops.find(({ hop }) => hop === step.hop)?.rtts ?? [];
    return rtts.slice(...spanIn(rtts.length, [start + 1, end < rounds ? end - 1 : end], rounds));
  });
  return { before, seen };
}

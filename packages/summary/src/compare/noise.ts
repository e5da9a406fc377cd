import { median } from '../geography.ts';
import { thresholds } from '../thresholds.ts';
import { chanceOfMore, choices, type Sample } from '../chance.ts';

/** A difference of times. */
export interface TimeChange {
  readonly aMs: number;
  readonly bMs: number;
  /** Probability that two sets of samples from the same distribution are separated in this direction. */
  readonly chance: number;
  /** Number of samples of each check. */
  readonly samples: readonly [a: number, b: number];
}

/**
 * The difference of two sets of round-trip times, if it is large: the medians differ by more than each of
 * `thresholds.compare.rtt`, which are a time, a share of the smaller median and a multiple of the spread of either set,
 * and all samples of one set are below those of the other. In a set with more than `minSamples` samples, the largest
 * one may be ignored. If a set has fewer than `minSamples`, the rule for single times applies to the two samples, one
 * of each set, that are closest to each other: the median of two samples is a time that was not measured.
 */
export function rttChange(a: readonly number[], b: readonly number[]): TimeChange | undefined {
  const { minSamples } = thresholds.compare.rtt;
  if (a.length === 0 || b.length === 0) return undefined;
  if (a.length < minSamples || b.length < minSamples) return fewChange(a, b);
  const sorted = [a, b].map((samples) => samples.toSorted((x, y) => x - y)) as [number[], number[]];
  const trimmed = sorted.map((samples) => (samples.length > minSamples ? samples.slice(0, -1) : samples)) as [
    number[],
    number[],
  ];
  return distance(...sorted) ?? distance(...trimmed);
}

function fewChange(a: readonly number[], b: readonly number[]): TimeChange | undefined {
  const [aMs, bMs] = [median(a), median(b)];
  const [low, high] = aMs < bMs ? [a, b] : [b, a];
  const [highestOfLow, lowestOfHigh] = [Math.max(...low), Math.min(...high)];
  const isLarge = highestOfLow < lowestOfHigh && singleChange(highestOfLow, lowestOfHigh) !== undefined;
  return isLarge ? { aMs, bMs, ...weightOf(a.length, b.length) } : undefined;
}

/** @param a in ascending order, as `b` */
function distance(a: readonly number[], b: readonly number[]): TimeChange | undefined {
  const { plusMs, share, spreads } = thresholds.compare.rtt;
  const [aMs, bMs] = [median(a), median(b)];
  const [low, high] = aMs < bMs ? [a, b] : [b, a];
  const difference = Math.abs(bMs - aMs);
  const isLarge =
    low.at(-1)! < high[0]! &&
    difference > plusMs &&
    difference > share * Math.min(aMs, bMs) &&
    [a, b].every((set) => difference > spreads * (set.at(-1)! - set[0]!));
  return isLarge ? { aMs, bMs, ...weightOf(a.length, b.length) } : undefined;
}

/** The difference of two times that were measured once, if it reaches both of `thresholds.compare.single`. */
export function singleChange(aMs: number, bMs: number): TimeChange | undefined {
  const { plusMs, times } = thresholds.compare.single;
  const [least, most] = [Math.min(aMs, bMs), Math.max(aMs, bMs)];
  return most - least >= plusMs && most >= times * least ? { aMs, bMs, ...weightOf(1, 1) } : undefined;
}

function weightOf(a: number, b: number): Pick<TimeChange, 'chance' | 'samples'> {
  return { chance: chanceOfApart(a, b), samples: [a, b] };
}

/** Probability that all of `a` draws from a distribution are larger than all of `b` other draws: 1 / C(a + b, a). */
export function chanceOfApart(a: number, b: number): number {
  return chanceOfMore({ sent: a, lost: a }, { sent: b, lost: 0 });
}

/**
 * True if chance does not explain that this many of the compared probes differ in one direction.
 *
 * @param chance probability that one probe differs in one direction by chance
 */
export function isBeyondChance(differing: number, compared: number, chance: number): boolean {
  let [tail, term] = [0, (1 - chance) ** compared];
  for (let k = 0; k <= compared; k += 1) {
    if (k >= differing) tail += term;
    term *= ((compared - k) / (k + 1)) * (chance / (1 - chance));
  }
  return 2 * tail <= thresholds.compare.byChance;
}

/** True if chance does not explain the difference in loss, given the number of compared probes. */
export function isLossChange(a: Sample, b: Sample, compared: number): boolean {
  return 2 * chanceOfLossChange(a, b) * compared <= thresholds.compare.byChance;
}

/**
 * True if chance does not explain that these of the compared probes had answers in one check and none in the other: by
 * their packets together, for every choice of as many probes.
 */
export function isSharedSilence(samples: readonly (readonly [Sample, Sample])[], compared: number): boolean {
  const together = (of: 0 | 1): Sample => ({
    sent: samples.reduce((sum, pair) => sum + pair[of].sent, 0),
    lost: samples.reduce((sum, pair) => sum + pair[of].lost, 0),
  });
  const chance = chanceOfLossChange(together(0), together(1));
  return 2 * chance * Math.exp(choices(compared, samples.length)) <= thresholds.compare.byChance;
}

/** Probability that chance alone causes at least this difference in loss, in this direction. */
export function chanceOfLossChange(a: Sample, b: Sample): number {
  return a.sent === 0 || b.sent === 0 ? 1 : Math.min(chanceOfMore(a, b), chanceOfMore(b, a));
}

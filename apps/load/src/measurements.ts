import { build, type Histogram } from 'hdr-histogram-js';

/** Histogram of times in milliseconds, accurate to three significant digits; longer ones count as `LONGEST_MS`. */
export interface Times {
  readonly record: (ms: number) => void;
  readonly summary: () => TimesSummary;
}

export interface TimesSummary {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
  /** Milliseconds by percentile, for the plot. */
  readonly percentiles: readonly (readonly [percentile: number, ms: number])[];
}

const LONGEST_MS = 600_000;
const PLOTTED = [0, 10, 25, 50, 75, 90, 95, 98, 99, 99.5, 99.9, 99.95, 99.99, 100];

export function createTimes(): Times {
  const histogram: Histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: LONGEST_MS * 1_000,
    numberOfSignificantValueDigits: 3,
  });
  // The exact maximum bounds the percentiles, each of which is the upper bound of a bucket.
  const max = (): number => (histogram.totalCount === 0 ? 0 : histogram.maxValue / 1_000);
  const at = (percentile: number): number => Math.min(histogram.getValueAtPercentile(percentile) / 1_000, max());
  return {
    record: (ms) => {
      // A single NaN would corrupt all percentiles.
      if (Number.isNaN(ms)) throw new TypeError('A time is not a number.');
      histogram.recordValue(Math.round(Math.min(Math.max(ms, 0), LONGEST_MS) * 1_000));
    },
    summary: () => ({
      count: histogram.totalCount,
      mean: histogram.totalCount === 0 ? 0 : histogram.mean / 1_000,
      p50: at(50),
      p90: at(90),
      p99: at(99),
      p999: at(99.9),
      max: max(),
      percentiles: PLOTTED.map((percentile) => [percentile, at(percentile)] as const),
    }),
  };
}

/** One second of the load, by the intended start of checks. */
export interface SecondSummary {
  readonly second: number;
  readonly started: number;
  readonly completed: number;
  readonly errors: number;
  /** 99th percentiles in milliseconds; null without an accepted check, a started job or a completed check. */
  readonly postP99: number | null;
  readonly dispatchP99: number | null;
  readonly completionP99: number | null;
}

export interface Measurements {
  readonly post: Times;
  /** Times from the intended start to the start of each probe's job. */
  readonly dispatch: Times;
  /** Times from the creation of the check to the start of each probe's job, both by the Redis clock. */
  readonly queue: Times;
  /** Times from the intended start to the receipt of the completed check. */
  readonly completion: Times;
  /** Delays of the generator: from the intended start of a check to the actual one. */
  readonly lag: Times;
  readonly count: (what: string) => void;
  readonly countError: (kind: string) => void;
  readonly countResult: (result: string) => void;
  readonly second: (atMs: number) => SecondMeasurements;
  readonly counts: ReadonlyMap<string, number>;
  readonly errors: ReadonlyMap<string, number>;
  readonly results: ReadonlyMap<string, number>;
  /** All seconds up to the last one with a start, including empty ones. */
  readonly seconds: () => readonly SecondSummary[];
}

interface SecondMeasurements {
  started: number;
  completed: number;
  errors: number;
  readonly post: number[];
  readonly dispatch: number[];
  readonly completion: number[];
}

export function createMeasurements(): Measurements {
  const counts = new Map<string, number>();
  const errors = new Map<string, number>();
  const results = new Map<string, number>();
  const seconds = new Map<number, SecondMeasurements>();
  const secondOf = (number: number): SecondMeasurements =>
    seconds.get(number) ?? { started: 0, completed: 0, errors: 0, post: [], dispatch: [], completion: [] };
  const adder = (map: Map<string, number>) => (key: string) => void map.set(key, (map.get(key) ?? 0) + 1);
  return {
    post: createTimes(),
    dispatch: createTimes(),
    queue: createTimes(),
    completion: createTimes(),
    lag: createTimes(),
    count: adder(counts),
    countError: adder(errors),
    countResult: adder(results),
    counts,
    errors,
    results,
    second: (atMs) => {
      const number = Math.floor(atMs / 1_000);
      const one = secondOf(number);
      seconds.set(number, one);
      return one;
    },
    seconds: () =>
      Array.from({ length: lastOf(seconds) + 1 }, (_, second) => {
        const { started, completed, errors: failed, post, dispatch, completion } = secondOf(second);
        return {
          second,
          started,
          completed,
          errors: failed,
          postP99: p99(post),
          dispatchP99: p99(dispatch),
          completionP99: p99(completion),
        };
      }),
  };
}

function lastOf(seconds: ReadonlyMap<number, unknown>): number {
  return [...seconds.keys()].reduce((last, second) => Math.max(last, second), -1);
}

/** The 99th percentile by the nearest-rank method; null without values. */
function p99(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? null;
}

/** A scale from zero to a round number, which the largest value exceeds by at most a thousandth of a step. */
export interface Scale {
  readonly max: number;
  readonly ticks: readonly number[];
  /** Length as a percentage of the scale, at most 100. */
  readonly percent: (value: number) => number;
}

/** @param most maximum number of steps */
export function scaleTo(values: readonly number[], most = 4): Scale {
  const largest = Math.max(0, ...values) || 1;
  const rough = largest / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10);
  const max = step * Math.ceil(largest / step - 0.001);
  const ticks = Array.from({ length: Math.round(max / step) + 1 }, (_, index) => index * step);
  return { max, ticks, percent: (value) => (Math.min(value, max) / max) * 100 };
}

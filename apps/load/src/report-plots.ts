import { plot, type Series } from './plot.ts';
import type { LoadReport } from './report.ts';

const DISPATCH_GOAL_MS = 250;
const colors = { post: '#0b6bcb', dispatch: '#b3541e', completion: '#2e7d32', errors: '#c41c1c' };

/** The plots of a report, as SVG elements. */
export function reportPlots({ times, seconds }: LoadReport): readonly string[] {
  const bySecond = (value: (one: LoadReport['seconds'][number]) => number | null): Series['points'] =>
    seconds.map((one) => [one.second, value(one)] as const);
  const kinds = [
    ['POST', times.post, colors.post],
    ['dispatch', times.dispatch, colors.dispatch],
    ['completion', times.completion, colors.completion],
  ] as const;
  return [
    plot({
      title: 'Latency by percentile',
      xLabel: 'percentile',
      yLabel: 'ms',
      series: kinds.map(([name, summary, color]) => ({
        name,
        color,
        points: summary.percentiles.map(([percentile, ms]) => [nines(percentile), ms] as const),
      })),
      xMarks: [0, 50, 90, 99, 99.9, 99.99].map((percentile) => [nines(percentile), `${percentile} %`] as const),
    }),
    plot({
      title: 'p99 of each second',
      xLabel: 'second',
      yLabel: 'ms',
      series: [
        { name: 'POST', color: colors.post, points: bySecond(({ postP99 }) => postP99) },
        { name: 'dispatch', color: colors.dispatch, points: bySecond(({ dispatchP99 }) => dispatchP99) },
        { name: 'completion', color: colors.completion, points: bySecond(({ completionP99 }) => completionP99) },
      ],
      level: { y: DISPATCH_GOAL_MS, name: `goal of dispatch: ${DISPATCH_GOAL_MS} ms` },
    }),
    plot({
      title: 'Checks of each second',
      xLabel: 'second',
      yLabel: 'checks',
      series: [
        { name: 'started', color: colors.post, points: bySecond(({ started }) => started) },
        { name: 'completed', color: colors.completion, points: bySecond(({ completed }) => completed) },
        { name: 'errors', color: colors.errors, points: bySecond(({ errors }) => errors) },
      ],
    }),
  ];
}

/** Percentiles on a logarithmic scale: 90, 99 and 99.9 are equidistant. */
function nines(percentile: number): number {
  return Math.min(4.3, -Math.log10(Math.max(1e-9, 1 - percentile / 100)));
}

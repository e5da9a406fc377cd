import type { TimesSummary } from './measurements.ts';
import { plot, type Series } from './plot.ts';
import type { LoadReport } from './report.ts';

const DISPATCH_GOAL_MS = 250;
const colors = { post: '#0b6bcb', dispatch: '#b3541e', completion: '#2e7d32', errors: '#c41c1c' };

/** A self-contained page. */
export function reportPage(report: LoadReport): string {
  const { config, times, perSecond, seconds } = report;
  const bySecond = (value: (one: LoadReport['seconds'][number]) => number | null): Series['points'] =>
    seconds.map((one) => [one.second, value(one)] as const);
  const kinds = [
    ['POST', times.post, colors.post],
    ['dispatch', times.dispatch, colors.dispatch],
    ['completion', times.completion, colors.completion],
  ] as const;
  const plots = [
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
  const mix = config.mix.map(([type, weight]) => `${type}=${weight}`).join(', ');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Load report</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c1c1c; background: #fff }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { padding: .2rem .9rem .2rem 0; text-align: right; font-variant-numeric: tabular-nums; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left }
svg { width: 100%; height: auto; margin: 1rem 0; font: 12px system-ui, sans-serif; fill: #444 }
svg .title { font-weight: 600; font-size: 14px; fill: #1c1c1c }
svg .grid { stroke: #e4e4e4 } svg .level { stroke: #888; stroke-dasharray: 5 4 }
</style>
<h1>Load report</h1>
<p>${escaped(report.startedAt)}, ${number(report.countedSeconds)} s${report.countedSeconds < config.seconds ? ` (stopped; ${config.seconds} were asked for)` : ''} after ${config.warmUpSeconds} s of warming up at ${number(config.rate)} checks
a second on ${config.probes} probes each (${escaped(mix)}), followed by ${config.follow === 'sse' ? 'event streams' : 'held answers'},
seed ${config.seed}. Times count from the intended start of each check.</p>
<table>
<tr><th>a second</th><th>started</th><th>accepted</th><th>completed</th><th>probe-runs</th></tr>
<tr><td></td><td>${number(perSecond.started)}</td><td>${number(perSecond.accepted)}</td><td>${number(perSecond.completed)}</td><td>${number(perSecond.probeRuns)}</td></tr>
</table>
<table>
<tr><th>ms</th><th>count</th><th>p50</th><th>p90</th><th>p99</th><th>p99.9</th><th>max</th></tr>
${[...kinds.map(([name, summary]) => [name, summary] as const), ['generator’s own lag', times.lag] as const]
  .map(([name, summary]) => row(name, summary))
  .join('\n')}
</table>
<p>Checks completed more than 2 s after their deadline: ${report.late}. Probe-runs ended by the deadline: ${report.unanswered}.</p>
${plots.join('\n')}
${countTable('Errors', report.errors)}
${countTable('Probe-runs by result', report.results)}
</html>
`;
}

function row(name: string, { count, p50, p90, p99, p999, max }: TimesSummary): string {
  const cells = [p50, p90, p99, p999, max].map((value) => `<td>${number(value)}</td>`).join('');
  return `<tr><td>${name}</td><td>${count}</td>${cells}</tr>`;
}

function countTable(title: string, counts: Readonly<Record<string, number>>): string {
  const rows = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  if (rows.length === 0) return `<p>${title}: none.</p>`;
  const body = rows.map(([name, count]) => `<tr><td>${escaped(name)}</td><td>${count}</td></tr>`).join('\n');
  return `<table>\n<tr><th>${title}</th><th>count</th></tr>\n${body}\n</table>`;
}

/** Percentiles on a logarithmic scale: 90, 99 and 99.9 are equidistant. */
function nines(percentile: number): number {
  return Math.min(4.3, -Math.log10(Math.max(1e-9, 1 - percentile / 100)));
}

function number(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Escapes texts from the service and the configuration. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

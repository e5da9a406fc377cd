import type { TimesSummary } from './measurements.ts';
import { reportPlots } from './report-plots.ts';
import type { LoadReport } from './report.ts';

/** The report as a self-contained HTML page. */
export function reportPage(report: LoadReport): string {
  const { config, times, perSecond } = report;
  const kinds = [
    ['POST', times.post],
    ['dispatch', times.dispatch],
    ['completion', times.completion],
  ] as const;
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
${[...kinds, ['generator’s own lag', times.lag] as const].map(([name, summary]) => row(name, summary)).join('\n')}
</table>
<p>Checks completed more than 2 s after their deadline: ${report.late}. Probe-runs ended by the deadline: ${report.unanswered}.</p>
${reportPlots(report).join('\n')}
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

function number(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Escapes texts from the service and the configuration. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

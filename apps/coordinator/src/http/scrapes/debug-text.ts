import type { ScrapedRun } from '@vantage/modules';

/** The output of `debug=true` in the sections of blackbox_exporter: log, metrics, module. */
export function debugText(runs: readonly ScrapedRun[], metrics: string, module: string): string {
  const log = runs.flatMap(({ probe, success, reasons }) => [
    `probe=${probe} msg="${success ? 'Probe succeeded' : 'Probe failed'}"`,
    ...reasons.map((reason) => `probe=${probe} reason=${JSON.stringify(reason)}`),
  ]);
  return [
    'Logs for the probe:',
    ...log,
    '\n\n\nMetrics that would have been returned:',
    metrics,
    '\n\nModule configuration:',
    module,
  ].join('\n');
}

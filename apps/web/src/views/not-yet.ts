import { probeIn } from '../check/measurements.ts';
import type { ViewProps } from './types.ts';

/** Text of a view that has no results to show yet. */
export function notYet(check: ViewProps['check'], rows: ViewProps['rows']): string {
  const shown = new Set(rows.map(([id]) => probeIn(id))).size;
  return shown < Object.keys(check.results).length
    ? 'No probe that matches the filter has answered yet.'
    : 'No probe has answered yet.';
}

import type { JSX } from 'preact';

import { compareNames } from '../format.ts';
import { toneOf } from '../parts/status.ts';
import type { CheckData } from './use-check.ts';

/** Above this number the indicators take several lines. */
const MANY = 40;

/** One indicator per probe: progress and outcome. */
export function ProbeIndicators(props: {
  readonly check: CheckData;
  readonly onChoose: (probe: string) => void;
}): JSX.Element {
  const entries = Object.entries(props.check.results).toSorted(([a], [b]) => compareNames(a, b));
  return (
    <div class={entries.length > MANY ? 'lamps many' : 'lamps'} aria-hidden="true">
      {entries.map(([probe, result]) => (
        <button
          key={probe}
          type="button"
          tabIndex={-1}
          class={`lamp ${toneOf(result)}`}
          title={probe}
          onClick={() => props.onChoose(probe)}
        />
      ))}
    </div>
  );
}

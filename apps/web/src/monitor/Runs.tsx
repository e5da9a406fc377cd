import type { Run } from '@vantage/contract';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { clockTime } from '../format.ts';
import { Link } from '../parts/router.tsx';
import { Section } from '../parts/section.tsx';
import { emptyLocationsText } from '../words.ts';

/** Rows shown without expanding the list. */
const FIRST_RUNS = 10;

/** The last runs, newest first, each with its check. */
export function Runs({ runs }: { readonly runs: readonly Run[] }): JSX.Element | null {
  const [isAll, setAll] = useState(false);
  if (runs.length === 0) return null;
  const shown = isAll ? runs : runs.slice(0, FIRST_RUNS);
  return (
    <Section title="Runs" class="runs">
      <ul>
        {shown.map((run) => (
          <RunRow key={run.tick} run={run} />
        ))}
      </ul>
      {shown.length === runs.length ? null : (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          All {runs.length} runs
        </button>
      )}
    </Section>
  );
}

function RunRow({ run }: { readonly run: Run }): JSX.Element {
  const { checkId, scheduledAt, reason, results } = run;
  const emptyText = emptyLocationsText(run);
  const states = Object.values(results).map(({ state }) => state);
  const count = (state: string): number => states.filter((one) => one === state).length;
  const parts = [
    [count('failing'), 'failing'],
    [count('ok'), 'ok'],
    [count('unmeasured'), 'unmeasured'],
  ] as const;
  return (
    <li>
      <time dateTime={scheduledAt}>{clockTime(scheduledAt)}</time>
      <span class={count('failing') > 0 ? 'failed' : ''}>
        {reason ??
          parts
            .filter(([number]) => number > 0)
            .map(([number, state]) => `${number} ${state}`)
            .join(', ')}
        {emptyText === undefined ? '' : ` · ${emptyText}`}
      </span>
      {checkId === null ? null : (
        <Link to={`/c/${checkId}`} label={`The check of ${clockTime(scheduledAt)}`}>
          Check
        </Link>
      )}
    </li>
  );
}

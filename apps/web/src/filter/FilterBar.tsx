import type { JSX } from 'preact';

import type { CheckData } from '../check/use-check.ts';
import { plural } from '../format.ts';
import { toneOf } from '../parts/status.ts';
import { ToneMark } from '../parts/tone.tsx';
import { outcomesOf } from './rows.ts';
import { groupings, isFiltered, NO_FILTER, type Grouping, type ViewState } from './view-state.ts';

/** Number of probes from which the filter is displayed; an active filter always is. */
const MANY = 8;

/** The filter of map, charts, graph and table, with the number of rows of each outcome. */
export function FilterBar(props: {
  readonly check: CheckData;
  readonly view: ViewState;
  /** Grouping in effect. */
  readonly group: Grouping;
  readonly count: number;
  readonly onChange: (change: Partial<ViewState>) => void;
}): JSX.Element | null {
  const { check, view, group, count, onChange } = props;
  const total = Object.keys(check.results).length;
  if (total < MANY && !isFiltered(view)) return null;
  const outcomes = outcomesOf(check);
  return (
    <div class="filter" role="search" aria-label="Filter of the probes">
      <label class="unseen" for="seek">
        Find in these probes
      </label>
      <input
        id="seek"
        type="search"
        placeholder="Country, network, tag, address …"
        value={view.words}
        onInput={(event) => onChange({ words: event.currentTarget.value })}
      />
      <div class="outcomes" role="group" aria-label="Outcome">
        {[['', []] as const, ...outcomes].map(([outcome, rows]) => (
          <button
            key={outcome}
            type="button"
            class="quiet"
            aria-pressed={view.outcome === outcome}
            onClick={() => onChange({ outcome: view.outcome === outcome ? '' : outcome })}
          >
            {outcome === '' ? null : <ToneMark tone={toneOf(rows[0]![1])} />}
            {outcome === '' ? `All ${total}` : `${outcome} ${rows.length}`}
          </button>
        ))}
      </div>
      <label class="group-by">
        Group by{' '}
        <select value={group} onChange={(event) => onChange({ group: event.currentTarget.value as Grouping })}>
          {groupings.map((name) => (
            <option key={name} value={name}>
              {name === 'none' ? 'nothing' : name}
            </option>
          ))}
        </select>
      </label>
      <span class={isFiltered(view) ? 'note' : 'unseen'} role="status">
        {isFiltered(view) ? `${count} of ${plural(total, 'probe')}` : ''}
      </span>
      {isFiltered(view) && count > 0 ? (
        <button type="button" class="quiet" onClick={() => onChange(NO_FILTER)}>
          Show all probes
        </button>
      ) : null}
    </div>
  );
}

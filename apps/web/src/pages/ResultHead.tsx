import type { Summary } from '@vantage/contract';
import type { JSX } from 'preact';

import { requestOf } from '../check/request.ts';
import { AgainButton } from '../check/AgainButton.tsx';
import { CopyBar } from '../check/CopyBar.tsx';
import { headingClass, nameOfCheck } from '../check/name.ts';
import type { CheckData } from '../check/use-check.ts';
import { Age } from '../clock/Age.tsx';
import { rowsOf, type Row } from '../filter/rows.ts';
import { NO_FILTER, readView } from '../filter/view-state.ts';
import { clockTime, duration } from '../format.ts';
import { RepeatButton } from './RepeatButton.tsx';

/** The name of a check, its time, and its actions. */
export function ResultHead(props: { readonly check: CheckData; readonly summary: Summary | undefined }): JSX.Element {
  const { check, summary } = props;
  const { createdAt, completedAt } = check;
  const { kind, target, details } = nameOfCheck(check.type, check.host, requestOf(check));
  return (
    <div class="result-head">
      <h1 class={headingClass(target)}>
        <span class="type">{kind}</span> <span class="target">{target}</span>
      </h1>
      <p class="note" title={clockTime(createdAt)}>
        {details === '' ? '' : `${details} · `}
        <Age of={createdAt} />
        {check.status === 'completed' && completedAt !== null
          ? ` · took ${duration(Date.parse(completedAt) - Date.parse(createdAt))}`
          : ''}
      </p>
      <div class="copy-bar">
        {check.status === 'completed' ? <AgainButton check={check} /> : null}
        {check.between === undefined ? <RepeatButton check={check} /> : null}
        <CopyBar check={check} summary={summary} rows={() => allRowsOf(check)} />
      </div>
    </div>
  );
}

/** All rows, also those that the filter hides, in the order of the view. */
function allRowsOf(check: CheckData): readonly Row[] {
  return rowsOf(check, {}, { ...readView(location.search), ...NO_FILTER });
}

import type { Probes } from '@vantage/contract';
import type { JSX } from 'preact';
import { Fragment } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { plural } from '../format.ts';
import { Icon } from '../parts/icons.tsx';
import { requestOf } from '../check/request.ts';
import { columnsOf, type Column } from '../check/columns.ts';
import type { CheckData } from '../check/use-check.ts';
import { Downloads } from '../filter/Downloads.tsx';
import { groupRows, limitGroups, type VisibleGroup } from '../filter/groups.ts';
import { probeOf, type Row } from '../filter/rows.ts';
import type { Grouping, Order } from '../filter/view-state.ts';
import { Kept, useGrowing } from '../parts/use-growing.ts';
import { Details } from './Details.tsx';
import { NotAsked } from './NotAsked.tsx';
import { ProbeRow } from './ProbeRow.tsx';

interface ProbeTableProps {
  readonly check: CheckData;
  /** The rows that the filter shows, in their order. */
  readonly rows: readonly Row[];
  readonly probes: Probes;
  readonly group: Grouping;
  readonly order: Order | undefined;
  readonly isAll: boolean;
  readonly open: ReadonlySet<string>;
  readonly onToggle: (probe: string) => void;
  readonly onSort: (order: Order) => void;
  readonly onAll: () => void;
  /** Ends the filter. */
  readonly onUnfilter: () => void;
}

const ROWS_A_FRAME = 8;

/** The probes with their results; sortable by any column, in groups, expandable to the full result. */
export function ProbeTable(props: ProbeTableProps): JSX.Element {
  const { check, rows, probes, group, order, isAll, open } = props;
  const [complete, setComplete] = useState<ReadonlySet<string>>(new Set());
  const columns = useMemo((): readonly Column[] => [probeColumn, ...columnsOf(check.type)], [check.type]);
  const all = groupRows(rows, group, check.type, probes);
  const isComplete = (title: string): boolean => isAll || complete.has(`${group} ${title}`);
  const wanted = limitGroups(all, open, isComplete).reduce((sum, { shown }) => sum + shown.length, 0);
  const drawn = useGrowing(wanted, ROWS_A_FRAME);
  const groups = limitGroups(all, open, isComplete, drawn);
  return (
    <section class="card probes-table" aria-labelledby="probes-title">
      <header class="card-head">
        <h2 id="probes-title">{plural(rows.length, 'probe')}</h2>
        <div class="note">
          <Downloads check={check} rows={rows} probes={probes} />
        </div>
      </header>
      <table class={rows.length > 20 ? 'dense' : ''} aria-busy={drawn < wanted || undefined}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.key} column={column} order={order} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        {groups.map((each) => (
          <GroupBody
            {...props}
            key={`${group} ${each.title}`}
            group={each}
            columns={columns}
            onComplete={() => setComplete(new Set([...complete, `${group} ${each.title}`]))}
          />
        ))}
      </table>
      {rows.length === 0 ? (
        <p class="note">
          No probe matches the filter.{' '}
          <button type="button" class="quiet" onClick={props.onUnfilter}>
            Show all probes
          </button>
        </p>
      ) : null}
      {wanted < rows.length ? (
        <button type="button" class="quiet rest" onClick={props.onAll}>
          Show all {rows.length} probes
        </button>
      ) : null}
      <NotAsked check={check} probes={probes} asked={requestOf(check)} />
    </section>
  );
}

/** Column of the probe: `sortRows` sorts it by name, and the row renders its cell. */
const probeColumn: Column = { key: 'probe', title: 'Probe', sortBy: () => undefined, text: () => '' };

function GroupBody(
  props: Omit<ProbeTableProps, 'group'> & {
    readonly group: VisibleGroup;
    readonly columns: readonly Column[];
    readonly onComplete: () => void;
  },
): JSX.Element {
  const { group, columns, probes, check, open } = props;
  return (
    <tbody>
      {group.title === '' ? null : <GroupHead {...props} />}
      {group.shown.map((row) => (
        <Fragment key={row[0]}>
          <Kept of={[row[1], columns, probeOf(probes, row[0]), open.has(row[0])]}>
            <ProbeRow
              row={row}
              columns={columns}
              probe={probeOf(probes, row[0])}
              isOpen={open.has(row[0])}
              onToggle={() => props.onToggle(row[0])}
            />
          </Kept>
          {open.has(row[0]) ? (
            <tr class="opened" id={`details-${row[0]}`}>
              <td colSpan={columns.length}>
                <Details type={check.type} result={row[1]} />
              </td>
            </tr>
          ) : null}
        </Fragment>
      ))}
    </tbody>
  );
}

function GroupHead(props: {
  readonly group: VisibleGroup;
  readonly columns: readonly Column[];
  readonly onComplete: () => void;
}): JSX.Element {
  const { title, rows, shown, hidden, failed } = props.group;
  return (
    <tr class="group-row">
      <th scope="rowgroup" colSpan={props.columns.length}>
        <strong>{title}</strong>{' '}
        <span class="note">
          {plural(rows.length, 'probe')}
          {failed > 0 && failed < rows.length ? `, ${failed} failed` : ''}
        </span>
        {hidden === 0 ? null : (
          <button type="button" class="quiet" aria-label={`Show ${hidden} more of ${title}`} onClick={props.onComplete}>
            {shown.length === 0 ? 'Show' : `Show ${hidden} more`}
          </button>
        )}
      </th>
    </tr>
  );
}

function Head(props: {
  readonly column: Column;
  readonly order: Order | undefined;
  readonly onSort: (order: Order) => void;
}): JSX.Element {
  const { column, order, onSort } = props;
  const isSorted = order?.key === column.key;
  const direction = isSorted ? (order.isDown ? 'descending' : 'ascending') : undefined;
  return (
    <th scope="col" class={column.isNumber === true ? 'number' : ''} aria-sort={direction} data-title={column.title}>
      <button
        type="button"
        class={`sort ${direction ?? ''}`}
        onClick={() => onSort({ key: column.key, isDown: isSorted && !order.isDown })}
      >
        {column.title}
        <Icon name="up" />
      </button>
    </th>
  );
}

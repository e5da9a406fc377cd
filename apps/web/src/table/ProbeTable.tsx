import type { Probes } from '@vantage/contract';
import type { JSX } from 'preact';
import { Fragment } from 'preact';
import { useState } from 'preact/hooks';

import { placeOf, plural } from '../format.ts';
import { Icon } from '../parts/icons.tsx';
import { toneOf, ToneMark } from '../parts/tone.tsx';
import { columnsOf, type Column } from '../check/columns.ts';
import { Details } from './Details.tsx';
import { sortRows, type Order } from './sort-rows.ts';
import type { Result, CheckData } from '../check/use-check.ts';

interface ProbeTableProps {
  readonly check: CheckData;
  readonly probes: Probes;
  readonly open: ReadonlySet<string>;
  readonly onToggle: (probe: string) => void;
}

/** One row per probe; sortable by any column, expandable to the full result. */
export function ProbeTable({ check, probes, open, onToggle }: ProbeTableProps): JSX.Element {
  const [order, setOrder] = useState<Order | undefined>();
  const columns: readonly Column[] = [probeColumn(probes), ...columnsOf(check.type)];
  const rows = sortRows(Object.entries(check.results), columns, order);
  return (
    <section class="card probes-table" aria-labelledby="probes-title">
      <header class="card-head">
        <h2 id="probes-title">{plural(rows.length, 'probe')}</h2>
        <p class="note">Open a row for all that its probe has measured.</p>
      </header>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.key} column={column} order={order} onSort={setOrder} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([id, result]) => (
            <Fragment key={id}>
              <Row
                id={id}
                result={result}
                columns={columns}
                probes={probes}
                isOpen={open.has(id)}
                onToggle={() => onToggle(id)}
              />
              {open.has(id) ? (
                <tr class="opened" id={`details-${id}`}>
                  <td colSpan={columns.length}>
                    <Details type={check.type} host={check.host} result={result} />
                  </td>
                </tr>
              ) : null}
            </Fragment>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Sorts by the probe's name; the row renders the cell itself. */
function probeColumn(_probes: Probes): Column {
  return { key: 'probe', title: 'Probe', sortBy: () => undefined, text: () => '' };
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
    <th scope="col" class={column.isNumber === true ? 'number' : ''} aria-sort={direction}>
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

function Row(props: {
  readonly id: string;
  readonly result: Result;
  readonly columns: readonly Column[];
  readonly probes: Probes;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}): JSX.Element {
  const { id, result, columns, probes, isOpen, onToggle } = props;
  const probe = Object.hasOwn(probes, id) ? probes[id] : undefined;
  const tone = toneOf(result.result);
  return (
    <tr class={`row ${isOpen ? 'is-open' : ''}`} data-probe={id} onClick={onToggle}>
      <th scope="row">
        <button
          type="button"
          class="opener"
          aria-expanded={isOpen}
          aria-controls={isOpen ? `details-${id}` : undefined}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          <Icon name="chevron" />
          <span>
            <span class="probe-id">{id}</span>
            {probe === undefined ? null : (
              <span class="probe-place">
                {placeOf(probe)} · {probe.isp} {probe.asNumber}
              </span>
            )}
          </span>
        </button>
      </th>
      {columns.slice(1).map((column) => (
        <td key={column.key} class={column.isNumber === true ? 'number' : ''} data-title={column.title}>
          {column.key === 'result' ? (
            <span class={`outcome ${tone}`}>
              <ToneMark tone={tone} />
              {column.text(result)}
            </span>
          ) : (
            column.text(result)
          )}
        </td>
      ))}
    </tr>
  );
}

import type { Probe } from '@vantage/contract';
import type { JSX } from 'preact';

import type { Column } from '../check/columns.ts';
import type { Result } from '../check/use-check.ts';
import type { Row } from '../filter/rows.ts';
import { placeOf } from '../format.ts';
import { Icon } from '../parts/icons.tsx';
import { Dotted } from '../parts/prose.tsx';
import { toneOf } from '../parts/status.ts';
import { ToneMark } from '../parts/tone.tsx';
import { otherMeasurement } from '../check/measurements.ts';

/** One probe in the table, and the button that opens its details; of a check over both families, in two rows. */
export function ProbeRow(props: {
  readonly row: Row;
  readonly columns: readonly Column[];
  readonly probe: Probe | undefined;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}): JSX.Element {
  const { row, columns, probe, isOpen, onToggle } = props;
  const [id, result] = row;
  const other = otherMeasurement(result);
  const first = (
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
            {other === undefined ? null : <span class="note"> IPv{other.family === 6 ? 4 : 6}</span>}
            {probe === undefined ? null : (
              <span class="probe-place">
                {placeOf(probe)}
                <span class="probe-network">
                  {probe.isp} {probe.asNumber}
                </span>
              </span>
            )}
          </span>
        </button>
      </th>
      <Cells columns={columns} result={result} />
    </tr>
  );
  if (other === undefined) return first;
  return (
    <>
      {first}
      <tr class="row other-family" onClick={onToggle}>
        <th scope="row">
          <span class="unseen">{id} </span>
          <span class="note">IPv{other.family}</span>
        </th>
        <Cells columns={columns} result={other.result} />
      </tr>
    </>
  );
}

/** Length of the longest IPv4 address. Values of at most this length are not broken over lines. */
const SHORT = 15;

function Cells({ columns, result }: { readonly columns: readonly Column[]; readonly result: Result }): JSX.Element {
  const tone = toneOf(result);
  return (
    <>
      {columns.slice(1).map((column) => {
        const text = column.text(result);
        const kind = column.isNumber === true ? 'number' : text.length <= SHORT ? 'short' : '';
        const isAddress = /^\d+\.\d+\.\d+\.\d+$/.test(text);
        return (
          <td key={column.key} class={isAddress ? `${kind} ipv4` : kind} data-title={column.title}>
            {column.key === 'result' ? (
              <span class={`outcome ${tone}`}>
                <ToneMark tone={tone} />
                {text}
              </span>
            ) : kind === '' ? (
              <Dotted text={text} />
            ) : (
              text
            )}
          </td>
        );
      })}
    </>
  );
}

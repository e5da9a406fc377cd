import { asCsv, asJsonLines } from '@vantage/client';
import type { Probes } from '@vantage/contract';
import type { JSX } from 'preact';

import type { CheckData } from '../check/use-check.ts';
import type { Row } from './rows.ts';

const formats = [
  ['CSV', 'csv', 'text/csv', asCsv],
  ['JSON lines', 'jsonl', 'application/jsonl', asJsonLines],
] as const;

/** Downloads of the rows that the filter shows, in their order. */
export function Downloads(props: {
  readonly check: CheckData;
  readonly rows: readonly Row[];
  readonly probes: Probes;
}): JSX.Element {
  const { check, rows, probes } = props;
  return (
    <>
      {formats.map(([title, extension, type, write]) => (
        <button
          key={extension}
          type="button"
          class="quiet"
          aria-label={`Download as ${title}`}
          onClick={() => save(`${check.type}-${check.testId}.${extension}`, type, write(rows, probes, check))}
        >
          {title}
        </button>
      ))}
    </>
  );
}

function save(name: string, type: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  // The URL must stay valid until the download has begun.
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

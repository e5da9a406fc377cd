import type { JSX } from 'preact';

import { faultText } from '../faults.ts';

interface ListHeadProps {
  readonly title: string;
  /** Text with the number of entries; undefined until the list is loaded. */
  readonly counts: string | undefined;
  /** Error of the last attempt to load the list. */
  readonly error: unknown;
}

/** Head of a page with a list that is polled. */
export function ListHead({ title, counts, error }: ListHeadProps): JSX.Element {
  return (
    <div class="page-head">
      <h1>{title}</h1>
      <p class="lead">{leadOf(counts, error)}</p>
    </div>
  );
}

function leadOf(counts: string | undefined, error: unknown): string {
  if (counts === undefined) return error === undefined ? 'Loading' : faultText(error);
  return error === undefined ? counts : `${counts}. This list is not up to date. ${faultText(error)}`;
}

interface SeekProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onSeek: (value: string) => void;
  /** Number of entries found, with its noun. */
  readonly found: string;
}

/** Field that narrows a list down to the entries that contain a text. */
export function Seek({ label, placeholder, value, onSeek, found }: SeekProps): JSX.Element {
  return (
    <div class="seek">
      <label for="seek">{label}</label>
      <input
        id="seek"
        type="search"
        placeholder={placeholder}
        value={value}
        onInput={(event) => onSeek(event.currentTarget.value)}
      />
      <span class="note" role="status">
        {found}
      </span>
    </div>
  );
}

import type { Probes } from '@vantage/contract';
import type { JSX } from 'preact';

import { plural } from '../../format.ts';
import { Places } from './Places.tsx';
import { placesOf } from './places.ts';
import { SavedGroups } from './SavedGroups.tsx';
import type { FormValues } from '../values.ts';

export interface WhereFromProps {
  readonly type: string;
  readonly probes: Probes;
  readonly values: FormValues;
  readonly onChange: (name: string, value: string) => void;
}

/** Groups, places and completions for the fields that select probes; loaded when the options are opened. */
export function WhereFrom({ type, probes, values, onChange }: WhereFromProps): JSX.Element {
  const [locations, ids] = [String(values['locations'] ?? ''), String(values['probes'] ?? '')];
  return (
    <>
      <SavedGroups type={type} values={values} onChange={onChange} />
      <Places probes={probes} value={locations} onChange={(value) => onChange('locations', value)} />
      <datalist id="list-locations">
        {placesOf(probes).flatMap(({ places }) =>
          places.map(({ code, name, count }) => (
            <option key={code} value={completed(locations, /[,+]/g, code)}>
              {name}: {plural(count, 'probe')}
            </option>
          )),
        )}
      </datalist>
      <datalist id="list-probes">
        {Object.entries(probes).map(([id, probe]) => (
          <option key={id} value={completed(ids, /,/g, id)}>
            {probe.name}: {probe.status}
          </option>
        ))}
      </datalist>
    </>
  );
}

/** The entered text with the word after its last separator replaced. */
function completed(typed: string, separator: RegExp, word: string): string {
  const end = [...typed.matchAll(separator)].at(-1);
  if (end === undefined) return word;
  return `${typed.slice(0, end.index + 1)}${end[0] === ',' ? ' ' : ''}${word}`;
}

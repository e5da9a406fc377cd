import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { Link } from '../../parts/router.tsx';
import { isSameSelection, removeGroup, saveGroup, savedGroups, SELECTION, selectionOf } from './saved-groups.ts';
import { queryOf, type FormValues } from '../values.ts';

/** Named selections of probes: choose, save and remove one, and a link with the selection of the form. */
export function SavedGroups(props: {
  readonly type: string;
  readonly values: FormValues;
  readonly onChange: (name: string, value: string) => void;
}): JSX.Element | null {
  const { type, values, onChange } = props;
  const [groups, setGroups] = useState(savedGroups);
  const selection = selectionOf(values);
  const isSelected = Object.keys(selection).length > 0;
  const chosen = groups.find((group) => isSameSelection(group.values, values));
  if (groups.length === 0 && !isSelected) return null;
  const apply = (given: FormValues): void => {
    for (const field of SELECTION) onChange(field, String(given[field] ?? ''));
  };
  return (
    <div class="saved-groups" role="group" aria-label="Saved groups">
      {groups.map((group) => (
        <button
          key={group.name}
          type="button"
          class="chip"
          aria-pressed={group === chosen}
          onClick={() => apply(group === chosen ? {} : group.values)}
        >
          {group.name}
        </button>
      ))}
      {chosen === undefined ? null : (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            removeGroup(chosen.name);
            setGroups(savedGroups());
          }}
        >
          Remove {chosen.name}
        </button>
      )}
      {!isSelected || chosen !== undefined ? null : (
        <NewGroup values={values} onSave={() => setGroups(savedGroups())} />
      )}
      {isSelected ? <Link to={`/${queryOf(type, '', selection)}`}>Link to this selection</Link> : null}
    </div>
  );
}

/** A field for the name under which the selection of the form is saved. */
function NewGroup(props: { readonly values: FormValues; readonly onSave: () => void }): JSX.Element {
  const { values, onSave } = props;
  const [name, setName] = useState('');
  const save = (): void => {
    if (name.trim() === '') return;
    saveGroup(name, values);
    onSave();
  };
  return (
    <>
      <input
        type="text"
        aria-label="Name of a new group"
        placeholder="Name of a group"
        autocomplete="off"
        maxLength={40}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          // Enter saves the group; by default it would submit the form and start a check.
          event.preventDefault();
          save();
        }}
      />
      <button type="button" class="quiet" disabled={name.trim() === ''} onClick={save}>
        Save group
      </button>
    </>
  );
}

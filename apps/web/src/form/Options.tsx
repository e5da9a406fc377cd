import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { FormDefinition, FieldSchema, OptionHints } from '../../build/check-forms.ts';
import { Icon } from '../parts/icons.tsx';
import { useProbes } from '../parts/use-probes.tsx';
import { Field } from './Field.tsx';
import { optionName, type FormValues } from './values.ts';
import type { WhereFromProps } from './where/WhereFrom.tsx';

interface OptionsProps {
  readonly form: FormDefinition;
  readonly values: FormValues;
  readonly errors: Readonly<Record<string, string>>;
  readonly hint: string;
  readonly onChange: (name: string, value: string | boolean) => void;
}

/** Options, fields that select probes, and checkboxes; collapsed until the user expands them or one is rejected. */
export function Options({ form, values, errors, hint, onChange }: OptionsProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { WhereFrom, hints } = useOpened(isOpen);
  const probes = useProbes() ?? {};
  const boxes = Object.entries(form.fields).filter(([, schema]) => schema.type === 'boolean');
  const options = Object.entries(form.options).map(([name, schema]) => [optionName(name), schema] as const);
  const selection = Object.entries(form.selection);
  const names = [...boxes, ...options, ...selection].map(([name]) => name);
  const changed = names.filter((name) => values[name] !== undefined && values[name] !== '').length;
  useEffect(() => {
    if (names.some((name) => errors[name] !== undefined)) setOpen(true);
  }, [errors]);
  const field = ([name, schema]: readonly [string, FieldSchema]): JSX.Element => (
    <Field
      key={name}
      name={name}
      schema={schema}
      hint={hints?.[form.type]?.[name.replace(/^options\./, '')]}
      label={name === 'limit' ? 'Number of probes' : undefined}
      list={name in form.selection ? `list-${name}` : undefined}
      value={values[name]}
      error={errors[name]}
      onChange={(value) => onChange(name, value)}
    />
  );
  return (
    <div class="options">
      <div class="options-line">
        <p class="hint" id="host-hint">
          {hint}
        </p>
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Options{changed === 0 ? '' : ` · ${changed}`}
          <Icon name="chevron" />
        </button>
      </div>
      {isOpen ? (
        <div class="options-open">
          <fieldset>
            <legend>Where from</legend>
            {WhereFrom === undefined ? null : (
              <WhereFrom type={form.type} probes={probes} values={values} onChange={onChange} />
            )}
            <div class="grid">{selection.map(field)}</div>
          </fieldset>
          <fieldset>
            <legend>{form.title}</legend>
            <div class="grid">{[...boxes, ...options].map(field)}</div>
          </fieldset>
        </div>
      ) : null}
    </div>
  );
}

interface Opened {
  readonly WhereFrom?: ComponentType<WhereFromProps>;
  readonly hints?: OptionHints;
}

/** The choices of probes and places, and the hints. They are loaded when the options are first opened. */
function useOpened(isOpen: boolean): Opened {
  const [loaded, setLoaded] = useState<Opened>();
  useEffect(() => {
    if (!isOpen || loaded !== undefined) return;
    // If loading fails, the other fields remain usable, and opening the options again loads once more.
    void import('./opened-options.ts').then(setLoaded, () => undefined);
  }, [isOpen]);
  return loaded ?? {};
}

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { FormDefinition, FieldSchema } from '../../build/check-forms.ts';
import { Icon } from '../parts/icons.tsx';
import { useProbes } from '../parts/use-probes.tsx';
import { Field } from './Field.tsx';
import { Places } from './Places.tsx';
import { optionName, type FormValues } from './values.ts';

interface OptionsProps {
  readonly form: FormDefinition;
  readonly values: FormValues;
  readonly errors: Readonly<Record<string, string>>;
  readonly hint: string;
  readonly onChange: (name: string, value: string | boolean) => void;
}

/** Fields with defaults, collapsed until the user expands them or the service rejects one. */
export function Options({ form, values, errors, hint, onChange }: OptionsProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
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
      label={name === 'limit' ? 'Number of probes' : undefined}
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
            <Places
              probes={probes}
              value={String(values['locations'] ?? '')}
              onChange={(value) => onChange('locations', value)}
            />
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

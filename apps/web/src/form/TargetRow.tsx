import type { JSX } from 'preact';

import { Icon } from '../parts/icons.tsx';
import { labelOf } from '../format.ts';
import { Field } from './Field.tsx';
import { TargetFixes } from './TargetFixes.tsx';
import type { CheckFormState } from './use-check-form.ts';

const placeholders = { host: 'example.com', url: 'https://example.com/', name: 'example.com' } as const;

/** Short labels for fields in the row of the host. */
function shortLabel(name: string): string {
  return name === 'recordType' ? 'Record' : labelOf(name);
}

/** An error with the label of its field: `Port is required.` or `Record: There is no such record type.` */
function ofField(label: string, text: string): string {
  return /^(?:Is|Must) /.test(text) ? `${label} ${text.charAt(0).toLowerCase()}${text.slice(1)}` : `${label}: ${text}`;
}

/** Fields in the row of the host, such as the port; checkboxes are among the options. */
function fieldsOf({ form }: CheckFormState): readonly (readonly [string, CheckFormState['form']['fields'][string]])[] {
  return Object.entries(form.fields).filter(([, schema]) => schema.type !== 'boolean');
}

/** The host, the fields next to it, and the button that starts the check. */
export function TargetRow({ state }: { readonly state: CheckFormState }): JSX.Element {
  const { form, host, values, errors, isStarting } = state;
  return (
    <div class="entry">
      <label class="unseen" for="host">
        Target
      </label>
      <input
        id="host"
        class="host"
        type="text"
        inputmode="url"
        autocomplete="off"
        autocapitalize="off"
        autocorrect="off"
        spellcheck={false}
        enterkeyhint="go"
        placeholder={placeholders[form.hostKind]}
        value={host}
        aria-describedby="host-hint host-error"
        aria-invalid={errors.fields['host'] === undefined ? undefined : true}
        onInput={(event) => state.typeHost(event.currentTarget.value)}
      />
      {fieldsOf(state).map(([name, schema]) => (
        <Field
          key={`${form.type} ${name}`}
          name={name}
          schema={schema}
          label={shortLabel(name)}
          value={values[name]}
          error={errors.fields[name]}
          errorElementId="host-error"
          isRequired={form.required.includes(name)}
          onChange={(value) => state.change(name, value)}
        />
      ))}
      <button type="submit" class="start" disabled={isStarting}>
        <span>{isStarting ? 'Starting' : 'Check'}</span>
        <Icon name="arrow" />
      </button>
    </div>
  );
}

/** Errors of the row, of the request as a whole, and suggestions. */
export function TargetErrors({ state }: { readonly state: CheckFormState }): JSX.Element {
  const { errors, fixes, fix } = state;
  const ofFields = fieldsOf(state).flatMap(([name]) => {
    const text = errors.fields[name];
    return text === undefined ? [] : [ofField(shortLabel(name), text)];
  });
  const notes = [...ofFields, ...(errors.general === undefined ? [] : [errors.general])];
  const hostError = errors.fields['host'];
  return (
    <div class="said" role="alert" id="host-error">
      {hostError === undefined ? null : <p class="error">{hostError}</p>}
      <TargetFixes fixes={fixes} onChoose={fix} />
      {notes.map((text) => (
        <p key={text} class="error">
          {text}
        </p>
      ))}
    </div>
  );
}

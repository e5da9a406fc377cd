import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

import type { FieldSchema } from '../../build/check-forms.ts';
import { labelOf } from '../format.ts';
import { Prose } from '../parts/prose.tsx';
import { writeValue } from './values.ts';

export interface FieldProps {
  readonly name: string;
  readonly label?: string | undefined;
  readonly schema: FieldSchema;
  readonly hint?: string | undefined;
  readonly value: string | boolean | undefined;
  readonly error: string | undefined;
  /** Id of another element that shows the error, for a field without room for error and hint. */
  readonly errorElementId?: string;
  readonly isRequired?: boolean;
  /** Id of the element with completions. */
  readonly list?: string | undefined;
  readonly onChange: (value: string | boolean) => void;
}

/** A request field as its schema requires: checkbox, select, several lines, or one line. */
export function Field(props: FieldProps): JSX.Element {
  const { name, schema, error, errorElementId } = props;
  const isShort = errorElementId !== undefined;
  const id = useId();
  const label = props.label ?? labelOf(name.replace(/^options\./, ''));
  const described = [
    isShort ? undefined : `${id}-hint`,
    error === undefined ? undefined : (errorElementId ?? `${id}-error`),
  ];
  const common = {
    id,
    'data-field': name,
    'aria-describedby': described.filter((part) => part !== undefined).join(' ') || undefined,
    'aria-invalid': error === undefined ? undefined : true,
  } as const;
  const isBox = schema.type === 'boolean';
  return (
    <div class={`field ${isShort ? 'short' : ''} ${isBox ? 'box' : ''}`}>
      {isBox ? <Box {...props} common={common} /> : null}
      <label for={id}>{label}</label>
      {isBox ? null : <Entry {...props} common={common} />}
      {isShort ? null : (
        <p class="hint" id={`${id}-hint`}>
          <Prose text={props.hint ?? ''} />
        </p>
      )}
      {error === undefined || isShort ? null : (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

type Common = Readonly<Record<string, string | boolean | undefined>>;

function Box({ schema, value, onChange, common }: FieldProps & { readonly common: Common }): JSX.Element {
  return (
    <input
      {...common}
      type="checkbox"
      checked={value === undefined ? schema.default === true : value === true}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

function Entry(props: FieldProps & { readonly common: Common }): JSX.Element {
  const { schema, value, onChange, common, isRequired, list } = props;
  const text = typeof value === 'string' ? value : '';
  if (schema.enum !== undefined) {
    const standard = schema.default === undefined ? 'Automatic' : writeValue(schema.default);
    const others = schema.enum.filter((choice) => choice !== schema.default);
    return (
      <select {...common} value={text} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{standard}</option>
        {others.map((choice) => (
          <option key={choice} value={String(choice)}>
            {choice}
          </option>
        ))}
      </select>
    );
  }
  if (schema.type === 'object') {
    return (
      <textarea
        {...common}
        rows={2}
        spellcheck={false}
        placeholder="Accept-Language: de"
        value={text}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  return (
    <input
      {...common}
      type="text"
      list={list}
      inputmode={schema.type === 'integer' && schema.words === undefined ? 'numeric' : 'text'}
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      aria-required={isRequired}
      maxLength={schema.type === 'integer' ? 6 : undefined}
      placeholder={placeholder(schema)}
      value={text}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function placeholder({ default: standard, examples }: FieldSchema): string {
  // An empty object is no useful placeholder.
  if (standard !== undefined && typeof standard !== 'object') return writeValue(standard);
  return writeValue(examples?.[0]);
}

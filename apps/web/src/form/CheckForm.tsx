import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { forms } from './forms.ts';
import { Options } from './Options.tsx';
import { RetryNote } from './RetryNote.tsx';
import { TargetErrors, TargetRow } from './TargetRow.tsx';
import { useCheckForm, type CheckFormStart } from './use-check-form.ts';

const PAIR_HINT = ' Or two probes that trace to each other: fra-1 <-> nyc-1.';

export interface CheckFormProps extends CheckFormStart {
  readonly hasFocus?: boolean;
}

function firstSentence(text: string): string {
  return /^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text;
}

/** The host field, the check type, and collapsed options. Enter submits. */
export function CheckForm(props: CheckFormProps): JSX.Element {
  const state = useCheckForm(props);
  const { form, values, errors } = state;
  const element = useRef<HTMLFormElement>(null);

  useEffect(() => {
    if (props.hasFocus === true)
      element.current?.querySelector<HTMLInputElement>('#host')?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    // Focus the first invalid field; the options may have to be expanded first.
    requestAnimationFrame(() => element.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus());
  }, [errors]);

  return (
    <form class="check-form" ref={element} onSubmit={state.submit} noValidate>
      <TypeChoice chosen={form.type} onChoose={state.chooseType} />
      <TargetRow state={state} />
      <TargetErrors state={state} />
      {errors.retryAt === undefined ? null : <RetryNote at={errors.retryAt} />}
      <Options
        key={form.type}
        form={form}
        values={values}
        errors={errors.fields}
        hint={`${firstSentence(form.summary)}${form.takesPairs ? PAIR_HINT : ''}`}
        onChange={state.change}
      />
    </form>
  );
}

interface TypeChoiceProps {
  readonly chosen: string;
  readonly onChoose: (type: string) => void;
}

function TypeChoice({ chosen, onChoose }: TypeChoiceProps): JSX.Element {
  return (
    <fieldset class="types">
      <legend class="unseen">Check type</legend>
      {forms.map(({ type, title }) => (
        <label key={type} class={type === chosen ? 'chosen' : ''}>
          <input type="radio" name="type" value={type} checked={type === chosen} onChange={() => onChoose(type)} />
          <span>{title}</span>
        </label>
      ))}
    </fieldset>
  );
}

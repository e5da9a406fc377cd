import { readTarget, targetMistake, type TargetFix } from '@vantage/client';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { FormDefinition } from '../../build/check-forms.ts';
import { labelOf } from '../format.ts';
import { useRouter } from '../parts/router.tsx';
import { remember } from '../recent.ts';
import { Icon } from '../parts/icons.tsx';
import { Field } from './Field.tsx';
import { formOf, forms } from './forms.ts';
import { Options } from './Options.tsx';
import { formErrorsOf, type FormErrors } from './refusal.ts';
import { RetryNote } from './RetryNote.tsx';
import { TargetFixes } from './TargetFixes.tsx';
import { requestOf, valuesOf, type FormValues } from './values.ts';

const placeholders = { host: 'example.com', url: 'https://example.com/', name: 'example.com' } as const;
/** Far longer than the service takes; detects a connection that died without a reset. */
const REQUEST_TIMEOUT_MS = 30_000;
const types = forms.map(({ type }) => type);
const nothing: FormErrors = { fields: {}, general: undefined, retryAt: undefined };

export interface CheckFormProps {
  readonly type?: string | undefined;
  readonly host?: string | undefined;
  /** An earlier request, or the known part of it. */
  readonly before?: Readonly<Record<string, unknown>> | undefined;
  /** Values of a link to the form. */
  readonly initial?: FormValues | undefined;
  /** Probes chosen outside of the form; undefined until one was. */
  readonly probes?: readonly string[] | undefined;
  readonly hasFocus?: boolean;
}

/** Short labels for fields in the row of the host. */
function shortLabel(name: string): string {
  return name === 'recordType' ? 'Record' : labelOf(name);
}

/** `Port is required.` or `Record: There is no such record type.` */
function ofField(label: string, text: string): string {
  return /^(?:Is|Must) /.test(text) ? `${label} ${text.charAt(0).toLowerCase()}${text.slice(1)}` : `${label}: ${text}`;
}

function firstSentence(text: string): string {
  return /^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text;
}

/** The host field, the check type, and collapsed options. Enter submits. */
export function CheckForm(props: CheckFormProps): JSX.Element {
  const { go, service } = useRouter();
  const [type, setType] = useState(props.type ?? forms[0]!.type);
  const [host, setHost] = useState(props.host ?? '');
  const [hasChosen, setChosen] = useState(props.type !== undefined);
  const [values, setValues] = useState<FormValues>(() => ({
    ...valuesOf(formOf(props.type) ?? forms[0]!, props.before ?? {}),
    ...props.initial,
  }));
  const [fixes, setFixes] = useState<readonly TargetFix[]>([]);
  const [formErrors, setRefusal] = useState<FormErrors>(nothing);
  const [isStarting, setStarting] = useState(false);
  const element = useRef<HTMLFormElement>(null);
  const form = formOf(type) ?? forms[0]!;

  useEffect(() => {
    if (props.hasFocus === true)
      element.current?.querySelector<HTMLInputElement>('#host')?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    // Focus the first invalid field; the options may have to be expanded first.
    requestAnimationFrame(() => element.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus());
  }, [formErrors]);

  useEffect(() => {
    if (props.probes !== undefined) change('probes', props.probes.join(', '));
  }, [props.probes]);

  const typed = (text: string): void => {
    setHost(text);
    // A pasted URL selects http, unless the user has chosen a type.
    if (!hasChosen && readTarget(text).isUrl) setType('http');
  };
  const change = (name: string, value: string | boolean): void => setValues((all) => ({ ...all, [name]: value }));

  const submit = (event: Event): void => {
    event.preventDefault();
    if (isStarting) return;
    const mistake =
      host.trim() === ''
        ? { message: 'Type what to check: a host name, an address or a URL.', fixes: [] }
        : targetMistake(host, { ...form, hasPort: 'port' in form.fields, types });
    setFixes(mistake?.fixes ?? []);
    if (mistake === undefined) void start(form, host, values);
    else setRefusal({ ...nothing, fields: { host: mistake.message } });
  };
  const choose = (fix: TargetFix): void => {
    const after = { ...values, ...(fix.port === undefined ? {} : { port: String(fix.port) }) };
    setType(fix.type);
    setChosen(true);
    setHost(fix.host);
    setValues(after);
    setFixes([]);
    void start(formOf(fix.type)!, fix.host, after);
  };
  const start = async (form: FormDefinition, host: string, values: FormValues): Promise<void> => {
    const request = requestOf(form, host, values);
    setStarting(true);
    setRefusal(nothing);
    try {
      const { checkId } = await service.client.startCheck(request as Parameters<typeof service.client.startCheck>[0], {
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      remember({ id: checkId, type: form.type, host: request.host, at: new Date().toISOString(), request });
      go(`/c/${checkId}`);
    } catch (error) {
      setRefusal(formErrorsOf(error, form, performance.now()));
    } finally {
      setStarting(false);
    }
  };

  const besideHost = Object.entries(form.fields).filter(([, schema]) => schema.type !== 'boolean');
  const hostError = formErrors.fields['host'];
  const ofBesideHost = besideHost.flatMap(([name]) => {
    const text = formErrors.fields[name];
    return text === undefined ? [] : [ofField(shortLabel(name), text)];
  });
  const notes = [...ofBesideHost, ...(formErrors.general === undefined ? [] : [formErrors.general])];
  return (
    <form class="check-form" ref={element} onSubmit={submit} noValidate>
      <fieldset class="types">
        <legend class="unseen">Check type</legend>
        {forms.map(({ type: name, title }) => (
          <label key={name} class={name === type ? 'chosen' : ''}>
            <input
              type="radio"
              name="type"
              value={name}
              checked={name === type}
              onChange={() => {
                setType(name);
                setChosen(true);
                setRefusal(nothing);
                setFixes([]);
              }}
            />
            <span>{title}</span>
          </label>
        ))}
      </fieldset>
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
          aria-invalid={hostError === undefined ? undefined : true}
          onInput={(event) => typed(event.currentTarget.value)}
        />
        {besideHost.map(([name, schema]) => (
          <Field
            key={`${type} ${name}`}
            name={name}
            schema={schema}
            label={shortLabel(name)}
            value={values[name]}
            error={formErrors.fields[name]}
            errorElementId="host-error"
            isRequired={form.required.includes(name)}
            onChange={(value) => change(name, value)}
          />
        ))}
        <button type="submit" class="start" disabled={isStarting}>
          <span>{isStarting ? 'Starting' : 'Check'}</span>
          <Icon name="arrow" />
        </button>
      </div>
      <div class="said" role="alert" id="host-error">
        {hostError === undefined ? null : <p class="error">{hostError}</p>}
        <TargetFixes fixes={fixes} onChoose={choose} />
        {notes.map((text) => (
          <p key={text} class="error">
            {text}
          </p>
        ))}
      </div>
      {formErrors.retryAt === undefined ? null : <RetryNote at={formErrors.retryAt} />}
      <Options
        key={type}
        form={form}
        values={values}
        errors={formErrors.fields}
        hint={firstSentence(form.summary)}
        onChange={change}
      />
    </form>
  );
}

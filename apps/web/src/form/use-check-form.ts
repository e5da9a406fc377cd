import { endingWithStream, readTarget, targetMistake, type TargetFix, type TargetMistake } from '@vantage/client';
import { useState } from 'preact/hooks';

import type { FormDefinition } from '../../build/check-forms.ts';
import { useRouter } from '../parts/router.tsx';
import { remember } from '../recent.ts';
import { formOf, forms } from './forms.ts';
import { formErrorsOf, type FormErrors } from './refusal.ts';
import { selectionOf, useSelection, type Selection } from './use-selection.ts';
import { pairIn, requestOf, valuesOf, withValue, type FormValues } from './values.ts';

/** Request timeout, far longer than the service takes: detects a connection that died without a reset. */
const REQUEST_TIMEOUT_MS = 30_000;
const types = forms.map(({ type }) => type);
const nothing: FormErrors = { fields: {}, general: undefined, retryAt: undefined };

export interface CheckFormStart {
  readonly type?: string | undefined;
  readonly host?: string | undefined;
  /** An earlier request, or the known part of it. */
  readonly before?: Readonly<Record<string, unknown>> | undefined;
  /** Values of a link to the form. */
  readonly initial?: FormValues | undefined;
  /** Probes chosen outside of the form; undefined until one was. */
  readonly probes?: readonly string[] | undefined;
  /** Called with the fields that select probes, whenever they change. */
  readonly onSelect?: (selection: Selection) => void;
}

/** What the user has entered, and the state of the request. */
export interface CheckFormState {
  readonly form: FormDefinition;
  readonly host: string;
  readonly values: FormValues;
  readonly errors: FormErrors;
  /** Suggestions for a mistyped target. */
  readonly fixes: readonly TargetFix[];
  readonly isStarting: boolean;
  readonly chooseType: (type: string) => void;
  readonly typeHost: (text: string) => void;
  readonly change: (name: string, value: string | boolean) => void;
  readonly submit: (event: Event) => void;
  /** Starts the check with a suggestion. */
  readonly fix: (fix: TargetFix) => void;
}

export function useCheckForm(props: CheckFormStart): CheckFormState {
  const [type, setType] = useState(props.type ?? forms[0]!.type);
  const [host, setHost] = useState(props.host ?? '');
  const [hasChosen, setChosen] = useState(props.type !== undefined);
  const [values, setValues] = useState<FormValues>(() => ({
    ...valuesOf(formOf(props.type) ?? forms[0]!, props.before ?? {}),
    ...props.initial,
  }));
  const [fixes, setFixes] = useState<readonly TargetFix[]>([]);
  const { errors, setErrors, isStarting, start } = useStart();
  const form = formOf(type) ?? forms[0]!;
  const change = (name: string, value: string | boolean): void => setValues((all) => withValue(all, name, value));
  useSelection(props, selectionOf(form, host, values), change);

  return {
    form,
    host,
    values,
    errors,
    fixes,
    isStarting,
    change,
    chooseType: (name) => {
      setType(name);
      setChosen(true);
      setErrors(nothing);
      setFixes([]);
    },
    typeHost: (text) => {
      setHost(text);
      // A pasted URL selects http, unless the user has chosen a type.
      if (!hasChosen && readTarget(text).isUrl) setType('http');
    },
    submit: (event) => {
      event.preventDefault();
      if (isStarting) return;
      const mistake = mistakeIn(host, form, values);
      setFixes(mistake?.fixes ?? []);
      if (mistake === undefined) void start(form, host, values);
      else setErrors({ ...nothing, fields: { host: mistake.message } });
    },
    fix: (fix) => {
      const { port, recordType } = fix;
      const after = {
        ...values,
        ...(port === undefined ? {} : { port: String(port) }),
        ...(recordType === undefined ? {} : { recordType }),
      };
      setType(fix.type);
      setChosen(true);
      setHost(fix.host);
      setValues(after);
      setFixes([]);
      void start(formOf(fix.type)!, fix.host, after);
    },
  };
}

function mistakeIn(host: string, form: FormDefinition, values: FormValues): ReturnType<typeof targetMistake> {
  if (host.trim() === '') return { message: 'Type what to check: a host name, an address or a URL.', fixes: [] };
  if (form.takesPairs && pairIn(host) !== undefined) return undefined;
  return (
    twoPorts(host, form, values) ??
    addressAsName(host, form, values) ??
    targetMistake(host, { ...form, hasPort: 'port' in form.fields, types })
  );
}

/** A port in the host that contradicts the field of the port. */
function twoPorts(typed: string, { type, fields }: FormDefinition, values: FormValues): TargetMistake | undefined {
  const { host, port } = readTarget(typed);
  const field = String(values['port'] ?? '').trim();
  if (!('port' in fields) || port === undefined || field === '' || Number(field) === Number(port)) return undefined;
  const fixes = [port, field].flatMap((one) => (/^\d+$/.test(one) ? { type, host, port: Number(one) } : []));
  return { message: `Two ports were given: ${port} behind the host, and ${field}.`, fixes };
}

/** An address in a check of a name: an address has PTR records only. */
function addressAsName(
  typed: string,
  { type, hostKind }: FormDefinition,
  values: FormValues,
): TargetMistake | undefined {
  const { host } = readTarget(typed);
  const isAddress = /^\d+\.\d+\.\d+\.\d+$/.test(host) || /^[\da-f]*:[\da-f:.]*:[\da-f.]*$/i.test(host);
  if (hostKind !== 'name' || !isAddress || /^(?:ptr|type12)$/i.test(String(values['recordType'] ?? 'A')))
    return undefined;
  return {
    message: `${host} is an address, which has PTR records only.`,
    fixes: [
      { type, host, recordType: 'PTR' },
      { type: 'info', host },
    ],
  };
}

interface Start {
  readonly errors: FormErrors;
  readonly setErrors: (errors: FormErrors) => void;
  readonly isStarting: boolean;
  readonly start: (form: FormDefinition, host: string, values: FormValues) => Promise<void>;
}

/** Starts a check and shows its page. */
function useStart(): Start {
  const { go, service } = useRouter();
  const [errors, setErrors] = useState<FormErrors>(nothing);
  const [isStarting, setStarting] = useState(false);
  const start: Start['start'] = async (form, host, values) => {
    const request = requestOf(form, host, values);
    setStarting(true);
    setErrors(nothing);
    try {
      const followed = endingWithStream(request) as Parameters<typeof service.client.startCheck>[0];
      const { checkId } = await service.client.startCheck(followed, {
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      remember({
        id: checkId,
        type: form.type,
        host: request.host ?? host.trim(),
        at: new Date().toISOString(),
        request,
      });
      go(`/c/${checkId}`);
    } catch (error) {
      setErrors(formErrorsOf(error, form, performance.now()));
    } finally {
      setStarting(false);
    }
  };
  return { errors, setErrors, isStarting, start };
}

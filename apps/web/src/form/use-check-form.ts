import { endingWithStream, readTarget, type TargetFix, type TargetMistake } from '@vantage/client';
import { useState } from 'preact/hooks';

import type { FormDefinition } from '../../build/check-forms.ts';
import { serviceNow } from '../clock/service-clock.ts';
import { useRouter } from '../parts/router.tsx';
import { remember } from '../recent.ts';
import { formOf, forms } from './forms.ts';
import type { mistakeIn } from './mistakes.ts';
import { formErrorsOf, type FormErrors } from './refusal.ts';
import { useAddress } from './use-address.ts';
import { selectionOf, useSelection, type Selection } from './use-selection.ts';
import { requestOf, valuesOf, withValue, type FormValues } from './values.ts';

/** Request timeout: detects a connection that died without a reset. */
const REQUEST_TIMEOUT_MS = 30_000;
const nothing: FormErrors = { fields: {}, general: undefined, retryAt: undefined };

export interface CheckFormStart {
  readonly type?: string | undefined;
  readonly host?: string | undefined;
  /** An earlier request, or the known part of it. */
  readonly before?: Readonly<Record<string, unknown>> | undefined;
  /** Values of a link to the form. */
  readonly initial?: FormValues | undefined;
  /** A remark about the link, shown until a check is started or another type is chosen. */
  readonly note?: string | undefined;
  /** True on the start page, whose URL contains the form's values. */
  readonly isInAddress?: boolean;
  /** Probes chosen outside of the form; undefined until one was. */
  readonly probes?: readonly string[] | undefined;
  /** Called with the fields that select probes, at first and whenever they change. */
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
  const { errors, setErrors, fixes, setFixes, isStarting, start } = useStart(props.note);
  const form = formOf(type) ?? forms[0]!;
  const change = (name: string, value: string | boolean): void => setValues((all) => withValue(all, name, value));
  useAddress(props.isInAddress === true, form, host, values);
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
      void loadMistakes();
      // A URL selects http, unless a type was chosen.
      if (!hasChosen && readTarget(text).isUrl) setType('http');
    },
    submit: (event) => {
      event.preventDefault();
      if (!isStarting) void start(form, host, values, true);
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
      void start(formOf(fix.type)!, fix.host, after, false);
    },
  };
}

const EMPTY = { message: 'Type what to check: a host name, an address or a URL.', fixes: [] };

/** Loads the search for mistakes in a target; undefined if that fails: then only the service checks the target. */
async function loadMistakes(): Promise<typeof mistakeIn | undefined> {
  return import('./mistakes.ts').then(
    (loaded) => loaded.mistakeIn,
    () => undefined,
  );
}

async function mistakeOf(form: FormDefinition, host: string, values: FormValues): Promise<TargetMistake | undefined> {
  return host.trim() === '' ? EMPTY : (await loadMistakes())?.(host, form, values);
}

interface Start {
  readonly errors: FormErrors;
  readonly setErrors: (errors: FormErrors) => void;
  readonly fixes: readonly TargetFix[];
  readonly setFixes: (fixes: readonly TargetFix[]) => void;
  readonly isStarting: boolean;
  /** @param isTyped true for a target that the user typed: it is searched for mistakes first */
  readonly start: (form: FormDefinition, host: string, values: FormValues, isTyped: boolean) => Promise<void>;
}

/** Starts a check and shows its page. */
function useStart(note: string | undefined): Start {
  const { go, service } = useRouter();
  const [errors, setErrors] = useState<FormErrors>({ ...nothing, general: note });
  const [fixes, setFixes] = useState<readonly TargetFix[]>([]);
  const [isStarting, setStarting] = useState(false);
  const start: Start['start'] = async (form, host, values, isTyped) => {
    const request = requestOf(form, host, values);
    setStarting(true);
    setErrors(nothing);
    setFixes([]);
    try {
      const mistake = isTyped ? await mistakeOf(form, host, values) : undefined;
      if (mistake !== undefined) {
        setFixes(mistake.fixes);
        return setErrors({ ...nothing, fields: { host: mistake.message } });
      }
      const followed = endingWithStream(request) as Parameters<typeof service.client.startCheck>[0];
      const { checkId } = await service.client.startCheck(followed, {
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      remember({
        id: checkId,
        type: form.type,
        host: request.host ?? host.trim(),
        at: new Date(serviceNow()).toISOString(),
        request,
      });
      go(`/c/${checkId}`);
    } catch (error) {
      setErrors(formErrorsOf(error, form, performance.now(), request));
    } finally {
      setStarting(false);
    }
  };
  return { errors, setErrors, fixes, setFixes, isStarting, start };
}

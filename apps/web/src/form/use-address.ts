import { useEffect, useRef } from 'preact/hooks';

import type { FormDefinition } from '../../build/check-forms.ts';
import { afterPause, useRouter } from '../parts/router.tsx';
import { forms } from './forms.ts';
import { optionName, queryOf, type FormValues } from './values.ts';

/** Pause before the URL is changed. */
const PAUSE_MS = 400;

/**
 * Writes the form's values into the URL of the page, for reloads, bookmarks and shared links; adds no history entry.
 *
 * @param isKept false for a form on a page with another URL
 */
export function useAddress(isKept: boolean, form: FormDefinition, host: string, values: FormValues): void {
  const { replaceQuery } = useRouter();
  const query = addressOf(form, host, values);
  const written = useRef(query);
  useEffect(() => {
    // A link stays as it is until the user changes something.
    if (!isKept || query === written.current) return undefined;
    return afterPause(PAUSE_MS, () => {
      written.current = query;
      replaceQuery(query);
    });
  }, [query]);
}

/**
 * Query of the start page with the form's values; empty if they are those of a new form. Leaves out headers, and a
 * target with a user name or password before “@”: these may be secrets.
 */
function addressOf(form: FormDefinition, host: string, values: FormValues): string {
  const target = /^(?:[^/]*\/\/)?[^/?#]*@/.test(host) ? '' : host.trim();
  const options = Object.entries(form.options).map(([name, schema]) => [optionName(name), schema] as const);
  const fields = [...Object.entries(form.fields), ...Object.entries(form.selection), ...options];
  const entered = fields.flatMap(([name, schema]) => {
    const value = values[name];
    if (value === undefined || schema.type === 'object' || value === schema.default) return [];
    return [[name, typeof value === 'string' ? value.trim() : value] as const];
  });
  const query = queryOf(form.type, target, Object.fromEntries(entered));
  return query === queryOf(forms[0]!.type, '', {}) ? '' : query;
}

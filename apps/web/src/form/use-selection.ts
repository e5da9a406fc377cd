import { useLayoutEffect } from 'preact/hooks';

import type { FormDefinition } from '../../build/check-forms.ts';
import { pairIn, type FormValues } from './values.ts';

/** The fields that select probes, as typed. */
export interface Selection {
  readonly probes: string;
  readonly locations: string;
  readonly limit: string;
  /** True if the host is a pair of probes, which are then the only ones. */
  readonly isPair: boolean;
}

export function selectionOf(form: FormDefinition, host: string, values: FormValues): Selection {
  const [probes, locations, limit] = ['probes', 'locations', 'limit'].map((name) => String(values[name] ?? ''));
  return {
    probes: probes!,
    locations: locations!,
    limit: limit!,
    isPair: form.takesPairs && pairIn(host) !== undefined,
  };
}

interface SelectionProps {
  readonly probes?: readonly string[] | undefined;
  readonly onSelect?: (selection: Selection) => void;
}

/** Takes over the probes that are chosen outside of the form, and reports the selection. */
export function useSelection(
  { probes, onSelect }: SelectionProps,
  selection: Selection,
  change: (name: string, value: string) => void,
): void {
  // Runs before the next event: two quick clicks on the map must both count.
  useLayoutEffect(() => {
    if (probes !== undefined) change('probes', probes.join(', '));
  }, [probes]);
  useLayoutEffect(() => onSelect?.(selection), Object.values(selection));
}

import { value } from 'virtual:check-forms';

import type { CheckForm } from '../../build/check-forms.ts';

/** The forms of all check types, in the order in which they are offered. */
export const forms = value as readonly CheckForm[];

/** The form of a check type; nothing for a type that a newer service may have. */
export function formOf(type: string | null | undefined): CheckForm | undefined {
  return forms.find((form) => form.type === type);
}

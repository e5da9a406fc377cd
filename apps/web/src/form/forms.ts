import { value } from 'virtual:check-forms';

import type { CheckForm } from '../../build/check-forms.ts';

/** Forms of all check types, in display order. */
export const forms = value as readonly CheckForm[];

/** Form of a check type; undefined for a type of a later release. */
export function formOf(type: string | null | undefined): CheckForm | undefined {
  return forms.find((form) => form.type === type);
}

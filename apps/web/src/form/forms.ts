import { value } from 'virtual:check-forms';

import type { FormDefinition } from '../../build/check-forms.ts';

/** Forms of all check types, in display order. */
export const forms = value as readonly FormDefinition[];

/** Form of a check type; undefined for any other text. */
export function formOf(type: string | null | undefined): FormDefinition | undefined {
  return forms.find((form) => form.type === type);
}

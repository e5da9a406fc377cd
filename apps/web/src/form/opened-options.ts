import { value } from 'virtual:option-hints';

import type { OptionHints } from '../../build/check-forms.ts';

export { WhereFrom } from './where/WhereFrom.tsx';

export const hints = value as OptionHints;

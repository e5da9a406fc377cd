import type { Summary } from '@vantage/contract';
import type { CheckTypeName, checkTypes } from '@vantage/diagnostics/contract';
import type { ResultFieldsOf } from '@vantage/contract';

import type { Result, ShownCheck } from '../check/use-check.ts';

/** What every view of a check type is given. */
export interface ViewProps {
  readonly check: ShownCheck;
  readonly summary: Summary | undefined;
  readonly nameOf: (probe: string) => string;
  readonly onChoose: (probe: string) => void;
}

/** The fields of a result of one type, as far as they are there. */
export type FieldsOf<Name extends CheckTypeName> = Result & ResultFieldsOf<(typeof checkTypes)[Name]>;

/** The results by probe, read as those of a type: the service has held them against its schema. */
export function resultsOf<Name extends CheckTypeName>(
  check: ShownCheck,
): readonly (readonly [string, FieldsOf<Name>])[] {
  return Object.entries(check.results).toSorted(([a], [b]) =>
    a.localeCompare(b, 'en', { numeric: true }),
  ) as unknown as readonly (readonly [string, FieldsOf<Name>])[];
}

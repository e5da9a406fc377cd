import type { Summary } from '@vantage/contract';
import type { CheckTypeName, checkTypes } from '@vantage/diagnostics/contract';
import type { ResultFieldsOf } from '@vantage/contract';

import type { Result, CheckData } from '../check/use-check.ts';

/** Properties of all views of check types. */
export interface ViewProps {
  readonly check: CheckData;
  /** The rows that the filter shows, in their order. */
  readonly rows: readonly (readonly [probe: string, result: Result])[];
  /** True to show all rows of a long chart instead of the first ones. */
  readonly isAll: boolean;
  readonly summary: Summary | undefined;
  readonly nameOf: (probe: string) => string;
  readonly onChoose: (probe: string) => void;
}

/** Fields of a result of one type; any may be absent. */
export type FieldsOf<Name extends CheckTypeName> = Result & ResultFieldsOf<(typeof checkTypes)[Name]>;

/** Casts the results to a type: the service has validated them. */
export function resultsOf<Name extends CheckTypeName>({
  rows,
}: Pick<ViewProps, 'rows'>): readonly (readonly [string, FieldsOf<Name>])[] {
  return rows as unknown as readonly (readonly [string, FieldsOf<Name>])[];
}

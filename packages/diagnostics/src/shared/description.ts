import type { AnyCheckType, CommonResult, PublicFieldsOf } from '@vantage/contract';

/** Fields of a final or partial result of a check type, any of which may be absent. */
export type DescribedResult<C extends AnyCheckType> = Partial<Omit<CommonResult, 'result'> & PublicFieldsOf<C>>;

/** How a terminal shows a result of a check type; absent fields are left out. */
export interface Description<C extends AnyCheckType> {
  /** Parts of the first line, besides address and error. */
  readonly line: (result: DescribedResult<C>) => readonly (string | undefined)[];
  /** Further lines, for fields that do not fit on the first. */
  readonly details?: (result: DescribedResult<C>) => readonly string[];
}

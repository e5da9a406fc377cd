import type { CommonResult, ResultFieldsOf } from '@vantage/contract';
import type { checkTypes } from '@vantage/diagnostics/contract';

type Types = typeof checkTypes;

/** A result in the public form: final, or pending with the fields known so far. */
export type SparseResultOf<Name extends keyof Types> = Partial<Omit<CommonResult, 'result'>> & {
  readonly result: CommonResult['result'] | 'pending';
} & ResultFieldsOf<Types[Name]>;

export type AnyResult = Partial<Omit<CommonResult, 'result'>> & { readonly result: CommonResult['result'] | 'pending' };

/** A result in terms of a module. */
export interface Reading {
  readonly success: boolean;
  /** Reasons of the failure; empty for a success. */
  readonly reasons: readonly string[];
}

export function reading(reasons: readonly (string | false | undefined)[]): Reading {
  const given = reasons.filter((reason) => typeof reason === 'string');
  return { success: given.length === 0, reasons: given };
}

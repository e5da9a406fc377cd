import type { CommonResult, Family } from '@vantage/contract';
import type { checkTypes, CheckTypeName } from '@vantage/diagnostics/contract';
import { descriptions, type DescribedResult } from '@vantage/diagnostics/descriptions';
import { stallText } from '@vantage/diagnostics/reply-texts';

/** Describes a probe's result in one line; unknown fields are omitted. */
export function describeResult<Name extends CheckTypeName>(
  type: Name,
  result: DescribedResult<(typeof checkTypes)[Name]>,
): string {
  const { error, resolvedIp } = result as Partial<CommonResult>;
  const reason = error === null || error === undefined ? undefined : `${error.message} (${error.code})`;
  const parts = [resolvedIp, ...descriptions[type].line(result), reason, stallText(result)];
  return parts.filter((part) => part !== null && part !== undefined).join(', ');
}

/** Further lines, for fields that do not fit on the first. */
export function resultDetails<Name extends CheckTypeName>(
  type: Name,
  result: DescribedResult<(typeof checkTypes)[Name]>,
): readonly string[] {
  const own = descriptions[type].details?.(result) ?? [];
  const { otherFamily } = result as WithOtherFamily<Name>;
  if (otherFamily === undefined) return own;
  const { family, result: outcome = 'pending' } = otherFamily;
  const head = `over IPv${family}: ${[outcome, describeResult(type, otherFamily)].filter((part) => part !== '').join(', ')}`;
  return [...own, head, ...(descriptions[type].details?.(otherFamily) ?? [])];
}

interface WithOtherFamily<Name extends CheckTypeName> {
  readonly otherFamily?: DescribedResult<(typeof checkTypes)[Name]> & {
    readonly family: Family;
    readonly result?: CommonResult['result'];
  };
}

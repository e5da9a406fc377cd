import type { Family } from '@vantage/contract';

import { plural } from '../format.ts';
import type { FieldsOf } from './types.ts';

type Trace = FieldsOf<'traceroute'>;

/**
 * `2 of 3 probes reached the target`; of a check over both address families
 * `3 of 3 probes reached the target over IPv4, 2 of 3 over IPv6`.
 */
export function reachedText(results: readonly (readonly [probe: string, result: Trace])[], target: string): string {
  const all = results.length;
  const isOverBoth = results.some(([, { otherFamily }]) => otherFamily !== undefined);
  const reached = (isIt: (result: Trace) => boolean): number => results.filter(([, result]) => isIt(result)).length;
  if (!isOverBoth)
    return `${reached((result) => result.reached === true)} of ${plural(all, 'probe')} reached ${target}`;
  const over = (family: Family): number => reached((result) => reachedOver(family, result));
  return `${over(4)} of ${plural(all, 'probe')} reached ${target} over IPv4, ${over(6)} of ${all} over IPv6`;
}

function reachedOver(family: Family, result: Trace): boolean {
  const { otherFamily, resolvedIp } = result;
  const isSecond = otherFamily?.family === family;
  const isFirst = otherFamily === undefined ? resolvedIp?.includes(':') === (family === 6) : !isSecond;
  return (isSecond && otherFamily.reached === true) || (isFirst && result.reached === true);
}

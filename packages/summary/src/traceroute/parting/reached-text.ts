import { blackHolesOf } from '../mtu/find-mtus.ts';
import { refusalOf } from '../refusals/refusals.ts';
import type { Trace } from '../trace.ts';
import { namesOf, protocolsOf } from './names.ts';
import { refusalsText } from './refusal-text.ts';

export const FAULTLESS = 'the fault is over';

/**
 * Text about failing probes whose packets all reach the target.
 *
 * @param others traces of the other probes
 */
export function reachedText(through: readonly Trace[], others: readonly Trace[]): string {
  const names = `The paths from the failing ${namesOf(through)}`;
  const reach = `${names} reach the target:`;
  const refusals = through.flatMap((trace) => refusalOf(trace) ?? []).filter(({ isOfTarget }) => isOfTarget);
  if (refusals.length > 0) return `${reach} ${refusalsText(refusals)}.`;
  const holes = blackHolesOf(through);
  const isOfOthers = blackHolesOf(others).length > 0;
  if (holes.some(({ isCertain }) => isCertain) && !isOfOthers)
    return `${names} reach the target with small packets. ${holes.map(({ text }) => text).join(' ')}`;
  const reasons = [
    FAULTLESS,
    'is not on the path',
    `concerns other packets than those of the traces (${protocolsOf(through)})`,
  ];
  const hasTcp = through.some(({ probeResult }) => probeResult.result.protocol === 'tcp');
  const filter = hasTcp ? ['a filter on the path resets connections in its name'] : [];
  const doubts = isOfOthers ? [] : holes.map(({ text }) => ` ${text}`);
  return `${reach} ${eitherOf([...reasons, ...filter])}.${doubts.join('')}`;
}

function eitherOf(items: readonly string[]): string {
  return `${items.slice(0, -1).join(', ')}, or ${items.at(-1)}`;
}

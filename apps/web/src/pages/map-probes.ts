import type { Probes } from '@vantage/contract';

import { columnsOf } from '../check/columns.ts';
import type { Result } from '../check/use-check.ts';
import { probeOf } from '../filter/rows.ts';
import { duration } from '../format.ts';
import type { MapProbe } from '../map/ProbeMap.tsx';
import { toneOf } from '../parts/status.ts';
import type { ViewProps } from '../views/types.ts';

/**
 * The probes of a check for the map.
 *
 * @param shown ids that the filter shows; the others are faint
 */
export function mapProbesOf(
  props: Pick<ViewProps, 'check' | 'nameOf'> & { readonly probes: Probes },
  shown: ReadonlySet<string>,
): readonly MapProbe[] {
  const { check, probes, nameOf } = props;
  return Object.entries(check.results).map(([id, result]) => {
    const probe = probeOf(probes, id);
    return {
      id,
      name: `${id}, ${nameOf(id)}`,
      latitude: probe?.latitude ?? null,
      longitude: probe?.longitude ?? null,
      tone: toneOf(result),
      label: shown.has(id) ? labelOf(check.type, result) : undefined,
      isFaint: !shown.has(id),
    };
  });
}

/**
 * The value shown next to a pin: the time of a success, else the status code or the text of the first column. Undefined
 * for a pending result, and for a success of info or without a time.
 */
function labelOf(type: string, result: Result): string | undefined {
  if (result.result === 'pending') return undefined;
  if (result.result !== 'success') {
    const status = result['statusCode'];
    if (typeof status === 'number') return String(status);
    return columnsOf(type)[0]!
      .text(result)
      .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
  }
  // The time of a lookup says nothing about the place.
  return typeof result.rt === 'number' && type !== 'info' ? duration(result.rt) : undefined;
}

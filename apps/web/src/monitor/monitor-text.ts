import type { MonitorInList } from '@vantage/contract';

import { nameOfCheck, type CheckName } from '../check/name.ts';
import { plural } from '../format.ts';
import type { Tone } from '../parts/tone.tsx';

export const stateTones: Readonly<Record<string, Tone>> = { ok: 'good', bad: 'bad', unknown: 'mute' };
export const probeTones: Readonly<Record<string, Tone>> = { ok: 'good', failing: 'bad', unmeasured: 'mute' };

export function nameOfMonitored({ check }: Pick<MonitorInList, 'check'>): CheckName {
  return nameOfCheck(String(check['type']), String(check['host']), check);
}

/** The condition of an alarm: `3 of 5 probes, in 2 networks, at 2 ticks in a row`. */
export function alarmText({ alarm }: Pick<MonitorInList, 'alarm'>): string {
  const { when = '', networks = 1, countries = 1, for: ticks = 1 } = alarm ?? {};
  return [
    `${when} probes`,
    ...(networks > 1 ? [`in ${networks} networks`] : []),
    ...(countries > 1 ? [`in ${countries} countries`] : []),
    ...(ticks > 1 ? [`at ${ticks} ticks in a row`] : []),
  ].join(', ');
}

/**
 * The number of failing probes, and the number that an alarm needs; null before the first tick of the monitor's
 * definition.
 */
export function agreementText({ agreement }: Pick<MonitorInList, 'agreement'>): string | null {
  if (agreement === null) return null;
  const { failing, counted, needed, networks, countries } = agreement;
  const where =
    failing === 0 ? '' : `, in ${plural(networks, 'network')} and ${plural(countries, 'country', 'countries')}`;
  return `${failing} of ${plural(counted, 'probe')} that count ${failing === 1 ? 'fails' : 'fail'}${where}; an alarm takes ${needed}`;
}

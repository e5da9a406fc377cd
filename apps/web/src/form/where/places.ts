import type { Probe, Probes } from '@vantage/contract';

import { compareNames, countryName } from '../../format.ts';

/** A place that `locations` can name, with its number of probes that are not offline. */
export interface SelectablePlace {
  readonly code: string;
  readonly name: string;
  readonly count: number;
}

export interface PlaceGroup {
  /** Title of one place, and of several. */
  readonly titles: readonly [string, string];
  /** Most probes first. */
  readonly places: readonly SelectablePlace[];
}

export function placesOf(probes: Probes): readonly PlaceGroup[] {
  const online = Object.values(probes).filter(({ status }) => status !== 'offline');
  return [
    {
      titles: ['country', 'countries'],
      places: count(online, ({ countryCode }) => [[countryCode, countryName(countryCode) ?? countryCode]]),
    },
    {
      titles: ['network', 'networks'],
      places: count(online, ({ asNumber, isp }) => [[asNumber, `${isp} ${asNumber}`]]),
    },
    { titles: ['tag', 'tags'], places: count(online, ({ tags }) => tags.map((tag) => [tag, tag])) },
  ];
}

function count(
  probes: readonly Probe[],
  namesOf: (probe: Probe) => readonly (readonly [code: string, name: string])[],
): readonly SelectablePlace[] {
  const named = probes.flatMap(namesOf);
  return [...Map.groupBy(named, ([code]) => code)]
    .map(([code, members]) => ({ code, name: members[0]![1], count: members.length }))
    .toSorted((a, b) => b.count - a.count || compareNames(a.name, b.name));
}

import type { MonitorInList, Run } from '@vantage/contract';

/**
 * The last run in a sentence. A monitor whose definition changed has none until its next tick, but may have an alarm.
 */
export function sentenceOf({ headline, alarmSince }: Pick<MonitorInList, 'headline' | 'alarmSince'>): string {
  return headline ?? (alarmSince === null ? 'It has not run yet.' : 'It was bad, was changed, and has not run since.');
}

/** The locations without a probe in a sentence; undefined if each has one. */
export function emptyLocationsText({ emptyLocations = [] }: Pick<Run, 'emptyLocations'>): string | undefined {
  if (emptyLocations.length === 0) return undefined;
  return `No probe at ${emptyLocations.map((text) => `“${text}”`).join(' or ')}`;
}

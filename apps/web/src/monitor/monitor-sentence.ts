import type { MonitorInList } from '@vantage/contract';

/**
 * The last run in a sentence. A monitor whose definition changed has none until its next tick, but may have an alarm.
 */
export function sentenceOf({ headline, alarmSince }: Pick<MonitorInList, 'headline' | 'alarmSince'>): string {
  return headline ?? (alarmSince === null ? 'It has not run yet.' : 'It was bad, was changed, and has not run since.');
}

import { createCounters, type Counters } from '../checks/store/counters.ts';

/** Event counts by the values of the label `event`. */
export function eventCounts(counters: Readonly<Counters>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counters).map(([name, count]) => [snakeCase(name), count]));
}

/** All values of the label `event`. */
export function coreEvents(): readonly string[] {
  return Object.keys(eventCounts(createCounters()));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

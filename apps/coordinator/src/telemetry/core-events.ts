import { createCounters, type Counters } from '../checks/store/counters.ts';

/** What the core counts, as values of the label `event`. */
export function eventCounts(counters: Readonly<Counters>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counters).map(([name, count]) => [snakeCase(name), count]));
}

/** Every value that the label `event` can have. */
export function coreEvents(): readonly string[] {
  return Object.keys(eventCounts(createCounters()));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

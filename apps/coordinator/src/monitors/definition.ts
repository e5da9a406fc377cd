import { createHash } from 'node:crypto';

import {
  LONGEST_INTERVAL_SECONDS,
  SHORTEST_INTERVAL_SECONDS,
  type Alarm,
  type Expectation,
  type InputError,
  type MonitorRequest,
} from '@vantage/contract';

import type { AcceptedRequest } from '../checks/checks.ts';
import { canonicalJson } from '../checks/create/canonical-json.ts';

/** When a monitor is bad: the `alarm` of its request, with defaults. */
export interface AlarmRule {
  /** The share of counted probes that must fail: `failing` of `of`. */
  readonly failing: number;
  readonly of: number;
  readonly networks: number;
  readonly countries: number;
  /** Number of ticks in a row for a change of the state, with the exceptions of `turnTo`. */
  readonly ticks: number;
}

/** A monitor whose request passed the schema and the target policy. */
export interface MonitorDefinition {
  readonly name: string;
  readonly request: MonitorRequest;
  readonly everyMs: number;
  readonly expectation: Expectation;
  readonly rule: AlarmRule;
  readonly accepted: AcceptedRequest;
}

export type DefinitionReading =
  | { readonly valid: true; readonly definition: MonitorDefinition }
  | { readonly valid: false; readonly errors: readonly InputError[] };

/** Path of an error about the name, which is no field of the request. */
export const MONITOR_NAME = '{name}';

/**
 * Validates a name and a request. The path of an error is a JSON pointer into the request, or `MONITOR_NAME`.
 *
 * @param allow additional networks that the key of the monitor may measure
 */
export type ReadDefinition = (name: string, request: unknown, allow?: readonly string[]) => DefinitionReading;

export type MonitorOwner = 'file' | 'api';

/** A definition as stored in Redis. */
export interface StoredMonitor {
  readonly owner: MonitorOwner;
  readonly request: MonitorRequest;
  /** Networks that the key of the last `PUT` permits in addition to the target policy. */
  readonly allow?: readonly string[] | undefined;
}

/** A text that is equal for definitions of equal meaning, however their requests are written. */
export function meaningOf({ owner, request, allow = [] }: StoredMonitor): string {
  const { every, alarm = {}, expect: expectation = {}, webhooks = [], ...rest } = request;
  const meant = { every: readInterval(every) ?? every, alarm: readAlarm(alarm) ?? alarm, expectation, webhooks };
  return canonicalJson({ ...rest, ...meant, owner, allow });
}

const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** @returns milliseconds; undefined if the interval is out of bounds */
export function readInterval(text: string): number | undefined {
  const unit = text.at(-1) as keyof typeof UNIT_SECONDS;
  const seconds = Number(text.slice(0, -1)) * UNIT_SECONDS[unit];
  return seconds >= SHORTEST_INTERVAL_SECONDS && seconds <= LONGEST_INTERVAL_SECONDS ? seconds * 1_000 : undefined;
}

/** @returns undefined if `when` requires more failures than probes */
export function readAlarm({
  when = '1 of 2',
  networks = 1,
  countries = 1,
  for: ticks = 2,
}: Alarm): AlarmRule | undefined {
  const [failing = 0, of = 0] = when.split(' of ').map(Number);
  return failing <= of ? { failing, of, networks, countries, ticks } : undefined;
}

/** Fewest failing probes that can raise an alarm: two, or one if the rule requires only one. */
export function fewestOf({ failing }: AlarmRule): number {
  return Math.min(failing, 2);
}

/** The alarm in the form of the API, with the defaults. */
export function describeAlarm({ failing, of, networks, countries, ticks }: AlarmRule): Required<Alarm> {
  return { when: `${failing} of ${of}`, networks, countries, for: ticks };
}

/**
 * The first tick after a time, both milliseconds since the epoch. A hash of the name spreads monitors with equal
 * intervals over the interval.
 */
export function firstTickAfter(nowMs: number, { name, everyMs }: Pick<MonitorDefinition, 'name' | 'everyMs'>): number {
  const offsetMs = createHash('sha256').update(name).digest().readUIntBE(0, 6) % everyMs;
  return nowMs - ((((nowMs - offsetMs) % everyMs) + everyMs) % everyMs) + everyMs;
}

/**
 * Tolerance between two readings of the clock. Only a next tick that is further ahead than the interval and this
 * tolerance shows that the clock was stepped back.
 */
export const INEXACT_MS = 5_000;

/** A tick that no coordinator has claimed for this long counts as missed. */
export const MISSED_AFTER_MS = 20_000;

/** A missed tick is repeated within this time, even if the interval is longer. */
const MAKE_UP_WITHIN_MS = 60_000;

/**
 * The time of the next tick after a missed one, or of the first tick of a definition that is written while an alarm is
 * on, milliseconds since the epoch: within `MAKE_UP_WITHIN_MS` even for a long interval, and spread, so that monitors do
 * not run all at once.
 */
export function tickAfterMissed(nowMs: number, { name, everyMs }: Pick<MonitorDefinition, 'name' | 'everyMs'>): number {
  const madeUpMs = firstTickAfter(nowMs, { name, everyMs: Math.min(everyMs, MAKE_UP_WITHIN_MS) });
  return Math.min(firstTickAfter(nowMs, { name, everyMs }), madeUpMs);
}

/** Time of the tick after that of `atMs`. Missed ticks are skipped, and steps of the clock are followed. */
export function nextTickAfter(
  atMs: number,
  nowMs: number,
  definition: Pick<MonitorDefinition, 'name' | 'everyMs'>,
): number {
  const nextMs = firstTickAfter(atMs, definition);
  const isInTime = nowMs - nextMs <= MISSED_AFTER_MS && nextMs - nowMs <= definition.everyMs + INEXACT_MS;
  return isInTime ? nextMs : firstTickAfter(nowMs, definition);
}

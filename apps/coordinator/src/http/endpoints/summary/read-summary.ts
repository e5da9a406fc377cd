import { isCheckId, type Check, type LookUpPlace, type Probes, type Screenshot, type Summary } from '@vantage/contract';
import { summarize, type ProbeFacts } from '@vantage/summary';

import type { Checks } from '../../../checks/checks.ts';
import { continentOf } from '../../../probes/selection/continents.ts';
import type { ProbeList } from '../../../probes/registry/probe-list.ts';

/** Longest time for which a summary may be cached, seconds: data of probes and addresses may change. */
const MAX_AGE = 60;

export interface SummarySources {
  readonly checks: Pick<Checks, 'read' | 'screenshot'>;
  readonly probes: ProbeList;
  readonly lookUpPlace: LookUpPlace;
  readonly retentionSeconds: number;
}

export interface SummaryReading {
  readonly check: Check;
  readonly summary: Summary;
  readonly probes: Probes;
  readonly cacheControl: string;
}

interface Hold {
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/**
 * @param hold waits for the completion of a pending check
 * @returns undefined if there is no such check
 * @throws StoreUnavailable
 * @throws CheckEvicted
 */
export async function readSummary(
  { checks, probes, lookUpPlace, retentionSeconds }: SummarySources,
  id: string,
  hold: Hold = { waitMs: 0, signal: new AbortController().signal },
): Promise<SummaryReading | undefined> {
  const check = isCheckId(id) ? await checks.read(id, hold.waitMs, hold.signal) : undefined;
  if (check === undefined) return undefined;
  const [list, screenshot] = await Promise.all([probes.list(), screenshotOf(checks, check)]);
  const summary = summarize(check, factsOf(list), { screenshot, placeOf: lookUpPlace });
  return { check, summary, probes: list, cacheControl: cacheControl([check], retentionSeconds) };
}

/** Reads the state of the screenshot of an http check, unless a result has a screenshot. */
async function screenshotOf(checks: Pick<Checks, 'screenshot'>, check: Check): Promise<Screenshot | undefined> {
  const isTaken = Object.values(check.results).some((result) => 'screenshot' in result);
  return check.type !== 'http' || isTaken ? undefined : (await checks.screenshot(check.testId))?.screenshot;
}

function factsOf(list: Probes): ReadonlyMap<string, ProbeFacts> {
  return new Map(
    Object.entries(list).map(([id, probe]) => [id, { ...probe, continent: continentOf(probe.countryCode) }]),
  );
}

/**
 * `Cache-Control` of a response that is derived from these checks: it expires with the first of them, at the latest
 * after `MAX_AGE`; it is not cached while one of them is pending.
 */
export function cacheControl(checks: readonly Check[], retentionSeconds: number): string {
  if (checks.some(({ status }) => status !== 'completed')) return 'no-store';
  const endedMs = Math.min(...checks.map(({ completedAt, createdAt }) => Date.parse(completedAt ?? createdAt)));
  const leftSeconds = retentionSeconds - (Date.now() - endedMs) / 1000;
  return `public, max-age=${Math.floor(Math.max(0, Math.min(MAX_AGE, leftSeconds)))}`;
}

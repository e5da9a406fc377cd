import { outcomes, type Check, type CommonResult, type OutcomeWord, type Probe } from '@vantage/contract';
import type { CheckTypeName, checkTypes } from '@vantage/diagnostics/contract';
import type { ResultFieldsOf } from '@vantage/contract';

/** What the operator says of a probe, as far as a summary needs it. */
export type ProbeFacts = Pick<
  Probe,
  'countryCode' | 'asNumber' | 'isp' | 'city' | 'latitude' | 'longitude' | 'datacenter'
> & {
  /** Name of the continent in lower case. */
  readonly continent?: string | undefined;
};

/** The outcome is kept beside them: a pending result has none. */
type Common = Partial<Omit<CommonResult, 'result'>>;

/** A result of one type, pending or final: any of its fields may be absent. */
export type ResultOf<T extends CheckTypeName> = Common & ResultFieldsOf<(typeof checkTypes)[T]>;

/** One probe's share of a check. */
export interface Report<Result = Common> {
  readonly probe: string;
  /** Undefined where the probe was removed meanwhile. */
  readonly facts: ProbeFacts | undefined;
  readonly outcome: OutcomeWord | 'pending';
  readonly result: Result;
}

/** The shares of all probes, in the order of their ids. */
export function reportsOf(check: Check, probes: ReadonlyMap<string, ProbeFacts>): readonly Report[] {
  return Object.keys(check.results)
    .toSorted(byText)
    .map((probe) => {
      const { result: word, ...result }: Readonly<Record<string, unknown>> = check.results[probe]!;
      const outcome = outcomes.find((outcome) => outcome === word) ?? 'pending';
      return { probe, facts: probes.get(probe), outcome, result };
    });
}

/** The same reports with the fields of their type. */
export function ofType<T extends CheckTypeName>(reports: readonly Report[]): readonly Report<ResultOf<T>>[] {
  return reports as readonly Report<ResultOf<T>>[];
}

/** The order of code units: the same on every machine. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function probesOf(reports: readonly Pick<Report, 'probe'>[]): readonly string[] {
  return reports.map(({ probe }) => probe);
}

/** Reports by what `keyOf` says of each; those without a key are left out. The largest group first, then by key. */
export function groupBy<R extends Report>(
  reports: readonly R[],
  keyOf: (report: R) => string | undefined,
): readonly (readonly [key: string, reports: readonly R[]])[] {
  const groups = new Map<string, R[]>();
  for (const report of reports) {
    const key = keyOf(report);
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), report]);
  }
  return [...groups].toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || byText(a, b));
}

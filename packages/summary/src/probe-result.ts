import { outcomes, type Check, type CommonResult, type FinalOutcome, type Probe } from '@vantage/contract';
import type { CheckTypeName, checkTypes } from '@vantage/diagnostics/contract';
import type { ResultFieldsOf } from '@vantage/contract';

import { withoutFalseArrivals } from './false-arrival.ts';

/** The part of a probe's record that a summary needs. */
export type ProbeFacts = Pick<
  Probe,
  'countryCode' | 'asNumber' | 'isp' | 'city' | 'latitude' | 'longitude' | 'datacenter'
> & {
  /** Continent name in lower case. */
  readonly continent?: string | undefined;
};

/** Common fields without the outcome, which is a separate field of `ProbeResult`. */
type Common = Partial<Omit<CommonResult, 'result'>>;

/** A result of one type, pending or final; any field may be absent. */
export type SparseResultOf<T extends CheckTypeName> = Common & ResultFieldsOf<(typeof checkTypes)[T]>;

/** One probe's result with its record. */
export interface ProbeResult<Result = Common> {
  readonly probe: string;
  /** Undefined if not known, as for a probe that was removed, or if the caller gives no records. */
  readonly facts: ProbeFacts | undefined;
  readonly outcome: FinalOutcome | 'pending';
  readonly result: Result;
  /** True if the result says that a name does not exist, or has no address, which other probes found. */
  readonly isDisputed?: true;
  /** True if the request asked to accept any certificate: then the outcome depends on none. */
  readonly isInsecure?: true;
}

/** Results of all probes, in order of their ids. */
export function probeResultsOf(check: Check, probes: ReadonlyMap<string, ProbeFacts>): readonly ProbeResult[] {
  const { results } = withoutFalseArrivals(check);
  const insecure = check.request?.['insecureSSL'] === true ? { isInsecure: true as const } : {};
  return Object.keys(results)
    .toSorted(byText)
    .map((probe) => {
      const { result: word, ...result }: Readonly<Record<string, unknown>> = results[probe]!;
      const outcome = outcomes.find((outcome) => outcome === word) ?? 'pending';
      return { probe, facts: probes.get(probe), outcome, result, ...insecure };
    });
}

/** Narrows results to the fields of a type. */
export function ofType<T extends CheckTypeName>(
  probeResults: readonly ProbeResult[],
): readonly ProbeResult<SparseResultOf<T>>[] {
  return probeResults as readonly ProbeResult<SparseResultOf<T>>[];
}

/** Compares by code units, independent of the locale. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function probesOf(probeResults: readonly Pick<ProbeResult, 'probe'>[]): readonly string[] {
  return probeResults.map(({ probe }) => probe);
}

/** Groups results by key, largest group first, then by key; results without a key are left out. */
export function groupBy<R extends ProbeResult>(
  probeResults: readonly R[],
  keyOf: (probeResult: R) => string | undefined,
): readonly (readonly [key: string, probeResults: readonly R[]])[] {
  const groups = new Map<string, R[]>();
  for (const probeResult of probeResults) {
    const key = keyOf(probeResult);
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), probeResult]);
  }
  return [...groups].toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || byText(a, b));
}

import type { Difference } from '@vantage/contract';

import { isCutOff } from '../../cut-off.ts';
import type { ProbeResult, SparseResultOf } from '../../probe-result.ts';
import { unique } from '../../words.ts';
import { differentSet, differentValue, uncertainly, withoutSamples, type DifferenceDraft } from '../difference.ts';

/** True if the result says nothing about the target: it is pending, or the probe could not measure. */
export function isUnmeasured({ outcome, result }: ProbeResult): boolean {
  return outcome === 'pending' || outcome === 'error' || result.error?.source === 'probe';
}

export function outcomeDifferences(a: ProbeResult, b: ProbeResult): readonly Difference[] {
  // If the HTTP status alone is the failure, the difference of the statuses is more informative.
  if ([a, b].every(({ outcome, result }) => outcome === 'success' || result.error?.code === 'http_status')) return [];
  return differentValue({ subject: 'outcome', label: 'outcome' }, outcomeText(a), outcomeText(b));
}

/** The outcome, with the code of a failure. */
export function outcomeText({ outcome, result }: ProbeResult): string {
  const code = result.error?.code;
  return code === undefined ? outcome : `${outcome} (${code})`;
}

/** The difference of all addresses of the name if both results list them, else of the measured ones. */
export function addressDifferences(a: ProbeResult, b: ProbeResult): readonly Difference[] {
  const [ofA, ofB] = [a, b].map(listOf);
  if (ofA !== undefined && ofB !== undefined)
    return differentSet({ subject: 'addresses', label: 'addresses' }, ofA, ofB);
  const [measuredByA, measuredByB] = [a, b].map(({ result }) => result.resolvedIp ?? undefined);
  return differentValue(
    { subject: 'addresses', name: 'resolvedIp', label: 'measured address' },
    measuredByA,
    measuredByB,
  );
}

/** Addresses of the name; undefined if the result has none, or may not have all. */
export function listOf(probeResult: ProbeResult): readonly string[] | undefined {
  const { addresses = [] } = probeResult.result as SparseResultOf<'info'>;
  return addresses.length === 0 || isCutOff(probeResult) ? undefined : unique(addresses);
}

/**
 * True if the checks measured different addresses of the name, and each result lists both addresses or has no list:
 * then times and certificates may be those of another server.
 */
export function isElsewhere(a: ProbeResult, b: ProbeResult): boolean {
  const [ipOfA, ipOfB] = [a, b].map(({ result }) => result.resolvedIp ?? undefined);
  if (ipOfA === undefined || ipOfB === undefined || ipOfA === ipOfB) return false;
  return [a, b].every((one) => {
    const list = listOf(one);
    return list === undefined || (list.includes(ipOfA) && list.includes(ipOfB));
  });
}

export const ELSEWHERE = ', measured at different addresses';

/** The doubt of two dns results that are known to be of different servers; undefined otherwise. */
export function otherServer(a: ProbeResult, b: ProbeResult): string | undefined {
  const [ofA, ofB] = [a, b].map(({ result }) => (result as SparseResultOf<'dns'>).resolver ?? undefined);
  return ofA === undefined || ofB === undefined || ofA === ofB ? undefined : ', from another server';
}

/**
 * Marks a difference between measurements of different addresses or servers as uncertain: it may not be a change.
 *
 * @param where the doubt, at the end of the text
 */
export function elsewhere({ chance: _chance, text, ...difference }: DifferenceDraft, where: string): DifferenceDraft {
  return { ...uncertainly({ ...difference, text: `${withoutSamples(text)}${where}` }) };
}

import { addressSeries } from './address.ts';
import { gauge, type Sample } from './families.ts';
import { rttSummary } from './icmp.ts';
import { reading, type Reading, type SparseResultOf } from './result.ts';

type Traceroute = SparseResultOf<'traceroute'>;

export function tracerouteReading({ result, reached, error }: Traceroute): Reading {
  if (result === 'pending') return reading(['The trace did not come to its end in time.']);
  return reading([reached !== true && (error?.message ?? 'The target did not answer.')]);
}

/** @param pathHash hexadecimal; undefined if there is no path */
export function tracerouteSeries(
  result: Traceroute,
  resolveMs: number | undefined,
  pathHash: string | undefined,
): readonly Sample[] {
  const address = addressSeries(result.resolvedIp, resolveMs);
  const last = (result.hops ?? []).findLast(({ latency }) => latency !== null);
  // The path of a trace that has not ended is not yet known.
  if (result.result === 'pending' || last === undefined) return address;
  const rtts = last.rtts.filter((rtt) => rtt !== null);
  return [
    ...address,
    gauge('vantage_probe_hops', last.hop),
    ...(pathHash === undefined ? [] : [gauge('vantage_probe_path_hash', numberOf(pathHash))]),
    ...(result.reached === true ? rttSummary(rtts) : []),
  ];
}

/** Number of hexadecimal digits that a double represents exactly. */
const EXACT_DIGITS = 13;

function numberOf(hash: string): number {
  return Number.parseInt(hash.slice(0, EXACT_DIGITS), 16);
}

import type { ProbeResult } from '../probe-result.ts';
import { thresholds } from '../thresholds.ts';
import { FEW_PACKETS, uncertainly, type DifferenceDraft } from './difference.ts';
import { lossOf } from './fields/of-type.ts';

/**
 * Returns a function that marks differences of outcome and state as uncertain if one result has answers and the other
 * none, and the loss of the answered packets makes that likely at one of `count` probes.
 *
 * @param lossRate share of packets lost, estimated from all results with answers
 */
export function unlessByLoss(
  type: string,
  a: ProbeResult,
  b: ProbeResult,
  count: number,
  lossRate: number,
): (one: DifferenceDraft) => DifferenceDraft {
  const [answered, silent] = a.outcome === 'success' ? [a, b] : [b, a];
  const [ofA, ofB] = type === 'traceroute' ? [] : [lossOf(type, a), lossOf(type, b)];
  if (answered.outcome !== 'success' || silent.outcome !== 'timeout' || !ofA?.sent || !ofB?.sent) return (one) => one;
  const [own, { sent }] = silent === b ? [ofA, ofB] : [ofB, ofA];
  const chance = Math.max(own.lost / own.sent, lossRate) ** sent;
  if (count * chance <= thresholds.compare.byChance) return (one) => one;
  return (one) =>
    one.certain && (one.subject === 'outcome' || one.subject === 'state')
      ? { ...uncertainly(one), samples: [ofA, ofB], text: `${one.text}${FEW_PACKETS}` }
      : one;
}

/**
 * Share of packets lost in all results with answers, estimated with one lost and one answered packet more: few packets
 * without loss do not prove that the share is near zero.
 */
export function lossRateOf(type: string, probeResults: readonly ProbeResult[]): number {
  const samples = probeResults.flatMap((one) => (one.outcome === 'success' ? (lossOf(type, one) ?? []) : []));
  const [sent, lost] = [
    samples.reduce((sum, one) => sum + one.sent, 0),
    samples.reduce((sum, one) => sum + one.lost, 0),
  ];
  return (lost + 1) / (sent + 2);
}

import { found, severityByShare, type Found } from '../finding.ts';
import { median } from '../geography.ts';
import type { Report, ResultOf } from '../report.ts';
import { thresholds } from '../thresholds.ts';
import { listed, ms, percent } from '../words.ts';
import { findIcmp } from './icmp.ts';

type PingReport = Report<ResultOf<'ping'>>;

export function findPing(reports: readonly PingReport[]): readonly Found[] {
  const answered = reports.filter(({ result }) => (result.pingCompleted ?? 0) > 0);
  const late = reports.filter(({ result }) => result.pingCompleted === 0 && (result.anomalies?.late ?? 0) > 0);
  return [...loss(answered), ...jitter(answered), ...oddities(answered), ...allLate(late), ...findIcmp(reports)];
}

function loss(answered: readonly PingReport[]): readonly Found[] {
  const lossy = answered.flatMap((report) => {
    const { pingCount = 0, pingCompleted = 0 } = report.result;
    const lost = pingCount - pingCompleted;
    return report.outcome !== 'pending' && lost > 0 ? [{ report, lost, of: pingCount }] : [];
  });
  if (lossy.length === 0) return [];
  const lost = lossy.reduce((sum, one) => sum + one.lost, 0);
  const severity = lost >= thresholds.lostPackets ? 'warning' : 'info';
  const values = listed(
    lossy.map(({ report, lost, of }) => `${report.probe} ${percent(lost / of)} (${lost} of ${of})`),
  );
  const text = `Packets were lost: ${values}.`;
  const who = lossy.length === 1 ? lossy[0]!.report.probe : `${lossy.length} probes`;
  return [
    found(
      'packet_loss',
      severity,
      lossy.map(({ report }) => report),
      text,
      `${who} ${lossy.length === 1 ? 'loses' : 'lose'} packets`,
    ),
  ];
}

function jitter(answered: readonly PingReport[]): readonly Found[] {
  const { minMs, shareOfMean, minReplies } = thresholds.jitter;
  const measured = answered.filter(({ result }) => (result.pingCompleted ?? 0) >= minReplies);
  const isHigh = (jitter: number, meanMs: number): boolean => jitter > minMs && jitter > shareOfMean * meanMs;
  const high = measured.filter(({ result }) => {
    const { jitter, rttAvg } = result;
    if (typeof jitter !== 'number' || !isHigh(jitter, rttAvg ?? 0)) return false;
    const rtts = (result.packets ?? []).flatMap(({ rtt, duplicate }) => (rtt === null || duplicate ? [] : [rtt]));
    // A single slow packet, such as the first during ARP or neighbour discovery, is no jitter.
    const others = withoutFarthest(rtts);
    return rtts.length === 0 || isHigh(meanStep(others), mean(others));
  });
  if (high.length === 0) return [];
  const values = listed(
    high.map(({ probe, result }) => `${probe} ${ms(result.jitter!)} (mean ${ms(result.rttAvg ?? 0)})`),
  );
  const text = `The round-trip times vary much from one packet to the next: ${values}.`;
  return [
    found('jitter_high', severityByShare(high.length, measured.length), high, text, 'the round-trip times vary much'),
  ];
}

function allLate(late: readonly PingReport[]): readonly Found[] {
  if (late.length === 0) return [];
  const values = listed(
    late.map(({ probe, result }) => `${probe} ${result.anomalies!.late} of ${result.pingCount ?? 0}`),
  );
  const text = `Replies came, and all of them after more than four seconds, too late to count: ${values}.`;
  return [found('replies_odd', 'warning', late, text, 'its replies come too late')];
}

/** Removes the value farthest from the median. */
function withoutFarthest(values: readonly number[]): readonly number[] {
  const middle = median(values);
  const distances = values.map((value) => Math.abs(value - middle));
  return values.toSpliced(distances.indexOf(Math.max(...distances)), 1);
}

/** Mean absolute difference of successive values. */
function meanStep(values: readonly number[]): number {
  return mean(values.slice(1).map((value, index) => Math.abs(value - values[index]!)));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function oddities(answered: readonly PingReport[]): readonly Found[] {
  const words = { duplicates: 'duplicate', late: 'late', reordered: 'out of order', corrupted: 'damaged' } as const;
  const kinds = Object.keys(words) as (keyof typeof words)[];
  const odd = answered.filter(({ result }) => kinds.some((kind) => (result.anomalies?.[kind] ?? 0) > 0));
  if (odd.length === 0) return [];
  const sum = (kind: keyof typeof words): number =>
    odd.reduce((all, { result }) => all + (result.anomalies?.[kind] ?? 0), 0);
  const seen = kinds.flatMap((kind) => (sum(kind) > 0 ? [`${sum(kind)} ${words[kind]}`] : []));
  const text = `Replies were not as they should be at ${listed(odd.map(({ probe }) => probe))}: ${listed(seen)}.`;
  return [found('replies_odd', sum('corrupted') > 0 ? 'warning' : 'info', odd, text)];
}

import { buildFinding, severityByShare, type FindingDraft } from '../finding.ts';
import { median } from '../geography.ts';
import { answersOrdinary, isUnlucky } from '../unanswered-pings.ts';
import { ORDINARY_PAYLOAD_BYTES } from '../payload-text.ts';
import { groupBy, type ProbeResult, type SparseResultOf } from '../probe-result.ts';
import { reasonsOf } from '../reasons.ts';
import { thresholds } from '../thresholds.ts';
import { countOf, listed, ms, naming, percent } from '../words.ts';
import { findIcmp } from './icmp.ts';
import { lostInRow } from './lost-in-row.ts';
import { findOddReplies, findUncountedReplies } from './ping-replies.ts';

type PingResult = ProbeResult<SparseResultOf<'ping'>>;

export function findPing(probeResults: readonly PingResult[]): readonly FindingDraft[] {
  const answered = probeResults.filter(({ result }) => (result.pingCompleted ?? 0) > 0);
  const unanswered = probeResults.filter(({ result }) => result.pingCompleted === 0);
  return [
    ...loss([...answered, ...unanswered.filter((one) => isUnlucky(one, probeResults))]),
    ...findOrdinaryAlone(unanswered),
    ...jitter(answered),
    ...findOddReplies(answered),
    ...findUncountedReplies(unanswered),
    ...older(probeResults),
    ...findIcmp(probeResults),
  ];
}

/** Finding: agents of earlier releases ignored the option `dscp`. */
function older(probeResults: readonly PingResult[]): readonly FindingDraft[] {
  const final = probeResults.filter(({ outcome, result }) => outcome !== 'pending' && (result.pingCount ?? 0) > 0);
  const older = final.filter(({ result }) => result.dscp === undefined);
  if (older.length === 0 || older.length === final.length) return [];
  const text = `The agents of an earlier release do not know DSCP and sent 0: ${naming(older)}.`;
  return [buildFinding('probes_older', 'info', older, text)];
}

function loss(answered: readonly PingResult[]): readonly FindingDraft[] {
  const lossy = answered.flatMap((probeResult) => {
    const { pingCount = 0, pingCompleted = 0 } = probeResult.result;
    const lost = pingCount - pingCompleted;
    return probeResult.outcome !== 'pending' && lost > 0 ? [{ probeResult, lost, of: pingCount }] : [];
  });
  if (lossy.length === 0) return [];
  const lost = lossy.reduce((sum, one) => sum + one.lost, 0);
  const severity = lost >= thresholds.lostPackets ? 'warning' : 'info';
  const values = listed(
    lossy.map(
      ({ probeResult: { probe, result }, lost, of }) =>
        `${probe} ${percent(lost / of)} (${lost} of ${of}${lostInRow(result)})`,
    ),
  );
  // Probes without any answer do not count as reached, and the headline names them separately.
  const partly = lossy.filter(({ lost, of }) => lost < of);
  const told = partly.length > 0 ? partly : lossy;
  const who = told.length === 1 ? told[0]!.probeResult.probe : `${told.length} probes`;
  const causes = lossy.map(causesOf);
  const isOfReplies = causes.every(({ replies, unexplained, refused }) => replies > 0 && unexplained + refused === 0);
  const verb = isOfReplies ? ['gets', 'get'] : ['misses', 'miss'];
  return [
    buildFinding(
      'packet_loss',
      severity,
      lossy.map(({ probeResult }) => probeResult),
      `Packets got ${missed(causes)}: ${values}.${whyLost(causes)}`,
      `${who} ${verb[told.length === 1 ? 0 : 1]} ${isOfReplies ? 'late or damaged replies' : 'answers'}`,
    ),
  ];
}

/** Finding: pings with the size or DSCP of the check get no answer or an ICMP error, and ordinary ones are answered. */
function findOrdinaryAlone(unanswered: readonly PingResult[]): readonly FindingDraft[] {
  const silent = unanswered.filter(({ result }) => answersOrdinary(result));
  return groupBy(silent, ({ result }) => kindOf(result)).map(([kind, own]) => {
    const values = listed(
      own.map(({ probe, result: { pingCount = 0, ordinary } }) => {
        const { received = 0, sent = 0 } = ordinary ?? {};
        return `${probe} (0 of ${pingCount}; ordinary ${received} of ${sent})`;
      }),
    );
    const refusal = own.every(({ outcome }) => outcome === 'failure') ? reasonsOf(own) : undefined;
    const text =
      refusal === undefined
        ? `Pings ${kind} got no answer, and ordinary ones, sent after them, did: ${values}. A router, a filter or the target may drop such packets, or answers to them; of few packets, chance explains it too.`
        : `Pings ${kind} were refused (${refusal}), and ordinary ones, sent after them, were answered: ${values}.`;
    return buildFinding('packet_loss', 'warning', own, text, `not those ${kind}`);
  });
}

/** Text with the size or DSCP in which the packets differ from ordinary ones. */
function kindOf({ size, dscp }: SparseResultOf<'ping'>): string {
  const kinds = [
    ...(size === undefined || size === ORDINARY_PAYLOAD_BYTES ? [] : [countOf(size, 'byte') + ' of payload']),
    ...((dscp ?? 0) === 0 ? [] : [`DSCP ${dscp}`]),
  ];
  return `with ${listed(kinds)}`;
}

interface Causes {
  readonly late: number;
  readonly damaged: number;
  /** Number of packets that got an ICMP error instead of an answer. */
  readonly refused: number;
  /** Number of late and damaged replies, at most that of the packets without an answer and without an ICMP error. */
  readonly replies: number;
  readonly unexplained: number;
}

function causesOf({
  probeResult: { result },
  lost,
}: {
  readonly probeResult: PingResult;
  readonly lost: number;
}): Causes {
  const { late = 0, corrupted: damaged = 0 } = result.anomalies ?? {};
  const refused = (result.packets ?? []).filter(({ rtt, icmp }) => rtt === null && icmp !== undefined).length;
  // Duplicates of answers are counted, too, if they are late or damaged.
  const replies = Math.min(Math.max(0, lost - refused), late + damaged);
  return { late, damaged, refused, replies, unexplained: Math.max(0, lost - refused - replies) };
}

const UNEXPLAINED =
  'lost, or the target limits its answers to pings, which all that ask it may share: a traceroute over icmp tells.';

function whyLost(causes: readonly Causes[]): string {
  const sum = (field: keyof Causes): number => causes.reduce((all, one) => all + one[field], 0);
  const known = [
    ...(sum('late') > 0 ? [countOf(sum('late'), 'late reply', 'late replies')] : []),
    ...(sum('damaged') > 0 ? [countOf(sum('damaged'), 'damaged reply', 'damaged replies')] : []),
    ...(sum('refused') > 0 ? [countOf(sum('refused'), 'ICMP error')] : []),
  ];
  if (known.length === 0) return ` They are ${UNEXPLAINED}`;
  const explained = `${capitalised(listed(known))} may explain`;
  if (sum('unexplained') === 0) return ` ${explained} that.`;
  return ` ${explained} ${sum('refused') + sum('replies')} of them. The others are ${UNEXPLAINED}`;
}

function missed(causes: readonly Causes[]): string {
  const [isLate, isDamaged] = [causes.some(({ late }) => late > 0), causes.some(({ damaged }) => damaged > 0)];
  return `no ${isDamaged ? 'valid ' : ''}answer${isLate ? ' in time' : ''}`;
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function jitter(answered: readonly PingResult[]): readonly FindingDraft[] {
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
    buildFinding(
      'jitter_high',
      severityByShare(high.length, measured.length),
      high,
      text,
      'the round-trip times vary much',
    ),
  ];
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

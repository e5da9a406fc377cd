import { buildFinding, type FindingDraft } from '../finding.ts';
import { groupBy, type ProbeResult, type SparseResultOf } from '../probe-result.ts';
import { listed, safeText, unique } from '../words.ts';

type PingResult = ProbeResult<SparseResultOf<'ping'>>;

/** Findings: probes got only late or damaged replies, which do not count as answers, but come from the target. */
export function findUncountedReplies(unanswered: readonly PingResult[]): readonly FindingDraft[] {
  const faulty = unanswered.filter((one) => faultOf(one) !== undefined);
  return groupBy(faulty, faultOf).map(([fault, own]) => {
    const { text, brief } = faultsOfAll[fault as keyof typeof faultsOfAll];
    const values = listed(own.map((one) => `${one.probe} ${faultyReplies(one)} of ${one.result.pingCount ?? 0}`));
    return buildFinding('replies_odd', 'warning', own, `Replies came, and all of them ${text}: ${values}.`, brief);
  });
}

function faultOf({ result: { anomalies } }: PingResult): keyof typeof faultsOfAll | undefined {
  const { late = 0, corrupted = 0 } = anomalies ?? {};
  if (late > 0) return corrupted > 0 ? 'both' : 'late';
  return corrupted > 0 ? 'corrupted' : undefined;
}

/** Number of late and damaged replies; no more than the packets, since a damaged duplicate may count, too. */
function faultyReplies({ result: { anomalies, pingCount = 0 } }: PingResult): number {
  return Math.min(pingCount, (anomalies?.late ?? 0) + (anomalies?.corrupted ?? 0));
}

const faultsOfAll = {
  late: { text: 'after more than four seconds, too late to count', brief: 'its replies come too late' },
  corrupted: {
    text: 'damaged or of another length than was sent, so that they do not count',
    brief: 'its replies are damaged or of another length',
  },
  both: {
    text: 'late, damaged or of another length than was sent, so that they do not count',
    brief: 'its replies are late, damaged or of another length',
  },
} as const;

/** Findings: probes got answers, and in addition late, damaged, duplicate or foreign replies. */
export function findOddReplies(answered: readonly PingResult[]): readonly FindingDraft[] {
  const words = { duplicates: 'duplicate', late: 'late', reordered: 'out of order', corrupted: 'damaged' } as const;
  const kinds = Object.keys(words) as (keyof typeof words)[];
  const odd = answered.filter(
    ({ result }) => strangersOf(result).length > 0 || kinds.some((kind) => (result.anomalies?.[kind] ?? 0) > 0),
  );
  if (odd.length === 0) return [];
  const sum = (kind: keyof typeof words): number =>
    odd.reduce((all, { result }) => all + (result.anomalies?.[kind] ?? 0), 0);
  const seen = kinds.flatMap((kind) => (sum(kind) > 0 ? [`${sum(kind)} ${words[kind]}`] : []));
  const strangers = odd.flatMap(({ result }) => strangersOf(result));
  if (strangers.length > 0) {
    seen.push(
      `${strangers.length} from ${listed(unique(strangers).map((address) => safeText(address)))}, not from the measured address`,
    );
  }
  const text = `Replies were not as they should be at ${listed(odd.map(({ probe }) => probe))}: ${listed(seen)}.`;
  return [buildFinding('replies_odd', sum('corrupted') > 0 ? 'warning' : 'info', odd, text)];
}

/** The sender of each answer that did not come from the measured address, as behind a faulty address translation. */
function strangersOf({ packets = [], resolvedIp }: SparseResultOf<'ping'>): readonly string[] {
  return packets.flatMap(({ rtt, duplicate, from }) =>
    rtt === null || duplicate || from === null || from === resolvedIp ? [] : [from],
  );
}

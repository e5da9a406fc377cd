import type { Failure, FailureCode, SummaryGroup } from '@vantage/contract';

import { buildFinding, type FindingDraft } from '../finding.ts';
import { groupsOf } from '../groups.ts';
import { byText, type ProbeResult, type SparseResultOf } from '../probe-result.ts';
import { SYN_AGAIN_MS } from '../round-trip.ts';
import { hasDoubtfulSilence, hasDoubtfulTimes } from '../stalled.ts';
import { thresholds } from '../thresholds.ts';
import { listed, naming, tally } from '../words.ts';
import { findIcmp } from './icmp.ts';

type TcpResult = ProbeResult<SparseResultOf<'tcp'>>;
type UdpResult = ProbeResult<SparseResultOf<'udp'>>;
type PortResult = TcpResult | UdpResult;

export function groupStates(probeResults: readonly PortResult[]): readonly SummaryGroup[] {
  return groupsOf<PortResult>('state', probeResults, ({ result }) =>
    result.state === undefined ? undefined : [result.state],
  );
}

export function findTcp(probeResults: readonly TcpResult[]): readonly FindingDraft[] {
  return [...states(probeResults), ...handshakes(probeResults), ...findIcmp(probeResults)];
}

export function findUdp(probeResults: readonly UdpResult[]): readonly FindingDraft[] {
  return [...states(probeResults), ...silence(probeResults), ...findIcmp(probeResults)];
}

function states(probeResults: readonly PortResult[]): readonly FindingDraft[] {
  const told = probeResults.filter(({ result }) => result.state !== undefined);
  const of = (...words: readonly string[]): readonly PortResult[] =>
    told.filter(({ result }) => words.includes(result.state!));
  const [closed, filtered] = [of('closed'), of('filtered')];
  const all: FindingDraft[] = [];
  if (closed.length > 0) {
    const text = `The port is closed for ${naming(closed)}: the host, or a firewall in its name, answers that nothing listens there.`;
    all.push(buildFinding('port_closed', 'warning', closed, text));
  }
  if (filtered.length > 0) {
    const text = `The port is filtered for ${naming(filtered)}: packets to it are lost or find no route, a filter on the way or of the host drops or refuses them, or the host is away, overloaded or too slow to answer in time.`;
    all.push(buildFinding('port_filtered', 'warning', filtered, text));
  }
  const seen = new Set(told.map(({ result }) => result.state));
  // A silent port is compatible with every state: it may be open, or closed or unreachable with the ICMP error lost.
  seen.delete('open|filtered');
  if (seen.size > 1) {
    const text = `The probes do not see the port in the same state: ${tally(told, ({ result }) => result.state)}.`;
    all.push(buildFinding('port_states_differ', 'warning', told, text));
  }
  return all;
}

function handshakes(probeResults: readonly TcpResult[]): readonly FindingDraft[] {
  const open = probeResults.filter(({ result }) => result.state === 'open');
  const failed = countedOf(open, (probeResult) => failuresOf(probeResult).length);
  const delayed = countedOf(open, (probeResult) =>
    hasDoubtfulTimes('tcp', probeResult) ? 0 : sentAgain(probeResult.result),
  );
  const all = [...failed, ...delayed];
  if (all.length === 0) return [];
  const lost = all.reduce((sum, { count }) => sum + count, 0);
  const values = (counted: readonly Counted[], kind: (one: TcpResult) => string): string =>
    listed(counted.map(({ probeResult, count, of }) => `${probeResult.probe} ${count} of ${of}${kind(probeResult)}`));
  const sentences = [
    ...(failed.length > 0 ? [`Some handshakes failed where others worked: ${values(failed, failureKinds)}.`] : []),
    ...(delayed.length > 0 ? [`${SENT_AGAIN}: ${values(delayed, () => '')}.`] : []),
  ];
  const severity = lost >= thresholds.lostPackets ? 'warning' : 'info';
  const own = [...new Set(all.map(({ probeResult }) => probeResult))];
  const brief = failed.length > 0 ? 'some handshakes fail' : 'some handshakes take a second longer';
  return [buildFinding('handshakes_lost', severity, own, sentences.join(' '), brief)];
}

/** Failures of handshakes, without those of the probe itself, and without any if it may have missed answers. */
function failuresOf(probeResult: TcpResult): readonly Failure[] {
  if (hasDoubtfulSilence('tcp', probeResult)) return [];
  const failures = (probeResult.result.attempts ?? []).flatMap(({ error }) => error ?? []);
  return failures.filter(({ source }) => source !== 'probe');
}

const kinds: Readonly<Partial<Record<FailureCode, string>>> = {
  connection_refused: 'refused',
  timed_out: 'unanswered',
  host_unreachable: 'host unreachable',
  network_unreachable: 'network unreachable',
  administratively_prohibited: 'prohibited',
  port_unreachable: 'refused by a filter',
};

/** How the handshakes of a probe failed, in parentheses. */
function failureKinds(probeResult: TcpResult): string {
  const counts = [...Map.groupBy(failuresOf(probeResult), ({ code }) => kinds[code] ?? 'otherwise failed')];
  const texts = counts.toSorted(([a], [b]) => byText(a, b)).map(([kind, { length }]) => [length, kind] as const);
  return ` (${texts.length === 1 ? texts[0]![1] : listed(texts.map(([count, kind]) => `${count} ${kind}`))})`;
}

const SENT_AGAIN =
  'Some handshakes took a second longer than others of the probe, as when a packet is lost, or dropped by a full queue or a filter, and sent again';

interface Counted {
  readonly probeResult: TcpResult;
  readonly count: number;
  readonly of: number;
}

/** The probes for which `count` is not 0, with that number and the number of their handshakes. */
function countedOf(probeResults: readonly TcpResult[], count: (probeResult: TcpResult) => number): readonly Counted[] {
  return probeResults
    .map((probeResult) => ({ probeResult, count: count(probeResult), of: probeResult.result.attempts?.length ?? 0 }))
    .filter((counted) => counted.count > 0);
}

/**
 * Number of handshakes that took so much longer than the shortest that their SYN, or its answer, must have been
 * retransmitted.
 */
function sentAgain({ attempts = [] }: SparseResultOf<'tcp'>): number {
  const rtts = attempts.flatMap(({ rt }) => rt ?? []);
  return rtts.filter((rtt) => rtt >= SYN_AGAIN_MS && rtt - Math.min(...rtts) >= thresholds.sentAgainMs).length;
}

function silence(probeResults: readonly UdpResult[]): readonly FindingDraft[] {
  const silent = probeResults.filter(({ result }) => result.state === 'open|filtered');
  if (silent.length === 0) return [];
  const text =
    `Nothing came back from the port to ${naming(silent)}: it is filtered, it is closed and the ICMP error did not come, what listens there ` +
    `does not answer this question or answers from another port or address, as TFTP and hosts with several addresses do, or after the end of the check, or packets were lost. With UDP these look the same.${blindness(silent)}`;
  return [buildFinding('udp_no_answer', 'info', silent, text)];
}

/** Sentence on probes that cannot receive ICMP errors, and so see a rejection as silence; empty without any. */
function blindness(silent: readonly UdpResult[]): string {
  const blind = silent.filter(({ result }) => result.icmpUnread === true);
  return blind.length === 0
    ? ''
    : ` ${naming(blind)} cannot read ICMP errors, so that a refusal looks like silence too.`;
}

import { thresholds } from '../../thresholds.ts';
import type { SparseResultOf } from '../../probe-result.ts';
import { buildFinding, type FindingDraft } from '../../finding.ts';
import { listed } from '../../words.ts';
import { chanceOfMore, sampleOf, type Sample } from '../../chance.ts';
import { isPacketwise } from '../multipath/dead-ends.ts';
import { outageOf } from '../rounds/outage.ts';
import { withoutPause } from '../rounds/pause.ts';
import { targetIndex, type Trace } from '../trace.ts';

type Spaced = NonNullable<SparseResultOf<'traceroute'>['spaced']>;
type Group = Spaced['groups'][number];

/** The traces whose packets after the trace prove loss, which no rate limit of ICMP answers explains. */
export function lossyWhenSpaced(traces: readonly Trace[]): readonly Trace[] {
  const counted = traces.map((trace) => withoutPause(trace, traces));
  return counted.filter(
    (trace) => trace.isFinal && trace.isReached && outageOf(trace, traces) === undefined && isProved(trace, counted),
  );
}

/** Packets to the target in groups, of all these traces together; undefined without any. */
export function answersWhenSpaced(traces: readonly Trace[]): Sample | undefined {
  const all = traces.flatMap(({ probeResult }) => probeResult.result.spaced ?? []);
  if (all.length === 0) return undefined;
  const sum = (count: (spaced: Spaced) => number): number => all.reduce((total, one) => total + count(one), 0);
  return { sent: sum(({ sent }) => sent), lost: sum(({ sent, received }) => sent - received) };
}

function isProved(trace: Trace, traces: readonly Trace[]): boolean {
  const { spaced } = trace.probeResult.result;
  if (spaced === undefined) return false;
  const { groups, handshakes = false, reordered = 0 } = spaced;
  if (handshakes) {
    const isLost = lostHandshakes(trace) > 0 && sumOfHandshakes(trace, traces).lost >= thresholds.lostPackets;
    return isLost && !areHandshakesLimited(trace, traces);
  }
  return reordered === 0 && groups.filter(isOutOfOrder).length >= thresholds.spaced.groups && isInOrder(trace, spaced);
}

/**
 * Sent and lost handshakes with the target, summed over all probes: as in ping and tcp checks, one lost at each of two
 * probes suffices.
 */
function sumOfHandshakes({ target }: Trace, traces: readonly Trace[]): Sample {
  const own = traces.filter((trace) => trace.target === target && trace.probeResult.result.spaced?.handshakes === true);
  const sent = own.reduce((sum, { probeResult }) => sum + probeResult.result.spaced!.sent, 0);
  return { sent, lost: own.reduce((sum, trace) => sum + lostHandshakes(trace), 0) };
}

/**
 * True if the SYNs of the traces, which leave in quick succession, got fewer answers than those that were sent about
 * half a second apart after them: loss does not depend on the spacing, a rate limit of new connections does.
 */
function areHandshakesLimited(trace: Trace, traces: readonly Trace[]): boolean {
  const quick = traces.filter(({ target }) => target === trace.target).flatMap(newConnections);
  const lost = quick.filter((isAnswered) => !isAnswered).length;
  return chanceOfMore({ sent: quick.length, lost }, sumOfHandshakes(trace, traces)) <= thresholds.beginByChance;
}

/**
 * For each flow, true if its first SYN to the target’s hop was answered; a stateful firewall takes later ones for
 * retransmissions.
 */
function newConnections(trace: Trace): readonly boolean[] {
  const hop = trace.steps[targetIndex(trace) ?? -1]?.hop ?? 0;
  const firsts = (trace.probeResult.result.flows ?? []).map(({ hops }) => hops[hop - 1]?.[0]);
  return firsts.filter((first) => first !== undefined).map((first) => first !== null);
}

function lostHandshakes({ probeResult: { result } }: Trace): number {
  const { handshakes = false, sent = 0, received = 0 } = result.spaced ?? {};
  return handshakes ? sent - received : 0;
}

/**
 * True if an answer follows an unanswered packet of the group: a rate limit would leave all packets after it
 * unanswered.
 */
function isOutOfOrder(group: Group): boolean {
  return countOfOutOfOrder(group) > 0;
}

/**
 * True if the packets of a group arrive in the order in which they were sent. Expects that no answers came out of order
 * (`reordered`): then a group with two answers proves it. Without such a group it is assumed if no balancer chooses per
 * packet, or if the round-trip times are similar.
 */
function isInOrder(trace: Trace, { groups }: Spaced): boolean {
  const isPair = (group: Group): boolean => group.filter((rtt) => rtt !== null).length > 1;
  if (groups.some(isPair)) return true;
  return !mayBePacketwise(trace) || spreadAtTarget(trace, groups) <= thresholds.spaced.spreadMs;
}

/**
 * True if a balancer may choose per packet: a flow met several routers at a hop, or no flow has two answers at one hop,
 * so that nothing is known. For a search for all paths, true if it found a per-packet balancer.
 */
function mayBePacketwise({ branching, probeResult }: Trace): boolean {
  if (branching.length > 0) return isPacketwise(branching);
  const { flows = [] } = probeResult.result;
  const hops = flows.flatMap((flow) => flow.hops.map((hop) => hop.filter((responder) => responder !== null)));
  return hops.some((hop) => new Set(hop).size > 1) || hops.every((hop) => hop.length < 2);
}

/** Milliseconds between the shortest and the longest round trip to the target: in the trace or in the groups. */
function spreadAtTarget(trace: Trace, groups: readonly Group[]): number {
  const hop = trace.steps[targetIndex(trace) ?? trace.steps.length - 1]?.hop;
  const own = (trace.probeResult.result.hops ?? []).find((one) => one.hop === hop)?.rtts ?? [];
  return Math.max(...[own, groups.flat()].map(spreadOf));
}

function spreadOf(rtts: readonly (number | null)[]): number {
  const known = rtts.filter((rtt) => rtt !== null);
  return known.length === 0 ? 0 : Math.max(...known) - Math.min(...known);
}

/** Finding: loss that packets after the trace prove, at no known place. */
export function findSpacedLoss(proved: readonly Trace[]): readonly FindingDraft[] {
  if (proved.length === 0) return [];
  const counts = proved.map((trace) => ({ ...countsOf(trace), probe: trace.probeResult.probe }));
  const results = proved.map(({ probeResult }) => probeResult);
  if (results.every(({ result }) => result.spaced!.handshakes === true)) {
    const shares = listed(counts.map(({ probe, sent, lost }) => `${probe} misses ${lost} of ${sent}`));
    const text = `Handshakes with the target get no answer: of those sent after the trace, half a second apart, ${shares}. Limits of ICMP leave them alone: packets are lost at a place that is not proved, or new connections are limited.`;
    return [buildFinding('loss_at_target', 'warning', results, text, `handshakes with it get no answer: ${shares}`)];
  }
  const shares = listed(
    counts.map(({ probe, sent, lost, open }) => `${probe} misses ${open === 0 ? '' : 'at least '}${lost} of ${sent}`),
  );
  const open = counts.reduce((sum, one) => sum + one.open, 0);
  const reason = `A limit of few answers a second does not explain that: later packets of a group were answered, and earlier ones were not.${open === 0 ? '' : ` It may explain ${open} more without an answer.`} A limit of hundreds a second that others use up looks the same as loss.`;
  const text = `Packets to the target get no answer: of those sent after the trace ${shares}. ${reason} Where packets are lost is not proved.`;
  return [buildFinding('loss_at_target', 'warning', results, text, `packets to it get no answer: ${shares}`)];
}

/** Packets in groups: unanswered ones that no rate limit explains (`lost`), and other unanswered ones (`open`). */
function countsOf({ probeResult: { result } }: Trace): Sample & { readonly open: number } {
  const { sent, received, groups, handshakes = false } = result.spaced!;
  const lost = handshakes ? sent - received : groups.reduce((sum, group) => sum + countOfOutOfOrder(group), 0);
  return { sent, lost, open: sent - received - lost };
}

/** Unanswered packets of a group before its last answered one. */
function countOfOutOfOrder(group: Group): number {
  return group.slice(0, group.findLastIndex((rtt) => rtt !== null) + 1).filter((rtt) => rtt === null).length;
}

/**
 * True if the first packets of groups are answered more often than the later ones, as by a rate limit of the target.
 */
export function isTargetLimited({ probeResult: { result } }: Trace): boolean {
  const groups = result.spaced?.groups ?? [];
  const [first, later] = [groups.flatMap((group) => group.slice(0, 1)), groups.flatMap((group) => group.slice(1))];
  return chanceOfMore(sampleOf(later), sampleOf(first)) <= thresholds.lossByChance;
}

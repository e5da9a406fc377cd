import { buildFinding, type FindingDraft } from '../../finding.ts';
import { thresholds } from '../../thresholds.ts';
import { listed, safeText } from '../../words.ts';
import type { Step, Trace } from '../trace.ts';

/** A hop with answers from one address in the first rounds, and from another one in all later ones. */
interface ChangedHop {
  readonly hop: number;
  /** Round of the last answer from the first address. */
  readonly last: number;
  /** Round of the first answer from the other address. */
  readonly first: number;
  /** Bits of evidence against a balancer that chose these answers by chance. */
  readonly bits: number;
  readonly from: string;
  readonly to: string;
}

interface RouteChange {
  /** The first hop that changed. */
  readonly hop: ChangedHop;
  /** Numbers of all hops that changed. */
  readonly hops: readonly number[];
  /**
   * True if two hops changed between which no hop answered. One alone may be the same router: many answer from the
   * address of the interface by which the error leaves, and a new return path changes that.
   */
  readonly isOfPath: boolean;
  readonly rounds: number;
}

/**
 * Number of rounds by which hops may disagree about the time of a change: the packets of a round are sent within a
 * second, and a new route takes time to propagate.
 */
const SPREAD = 1;

/**
 * Findings: the path changed between two rounds of a trace, hops answered from other addresses, or the target answered
 * at several hops.
 */
export function findPathChanges(traces: readonly Trace[]): readonly FindingDraft[] {
  return traces.flatMap((trace) => {
    const { probeResult } = trace;
    const change = pathChangeOf(trace);
    if (targetHopsOf(trace).length > 1) return [ofLength(trace, change)];
    return change === undefined ? [] : [ofHops(probeResult, change)];
  });
}

/** True if the hops of the trace show more than one path, or may do so. */
export function isChangedPath(trace: Trace): boolean {
  return targetHopsOf(trace).length > 1 || pathChangeOf(trace) !== undefined;
}

/**
 * The target’s hops in the order of rounds. Empty for a pending trace, and if the target never answered, if it answered
 * from the first round on at one hop, or if the agent does not report them.
 */
export function targetHopsOf({ isFinal, probeResult }: Trace): readonly TargetHop[] {
  return isFinal ? (probeResult.result.targetHops ?? []) : [];
}

type TargetHop = NonNullable<Trace['probeResult']['result']['targetHops']>[number];

/** The hops of the path after its change between two rounds; all hops unless exactly one change is proved. */
export function presentSteps(trace: Trace): readonly Step[] {
  const { rounds = 1, flows = [], hops = [] } = trace.probeResult.result;
  const moved = targetHopsOf(trace);
  const change = pathChangeOf(trace)?.hop;
  const [flow] = flows;
  // A target that moves more than once is behind a balancer, whose alternatives all remain.
  if (change === undefined || flow === undefined || moved.length > 2) return trace.steps;
  const since = moved[1] ?? change;
  const share = 1 - ('round' in since ? since.round : since.first) / rounds;
  const steps = moved.length > 1 ? trace.steps.filter(({ hop }) => hop <= since.hop) : trace.steps;
  return steps.map((step) => {
    const responders = hops.find(({ hop }) => hop === step.hop)?.responders ?? [];
    const seen = new Set(lastOf(flow.hops[step.hop - 1] ?? [], share).map((index) => responders[index ?? -1]?.ip));
    const routers = step.routers.filter(({ ip }) => seen.has(ip));
    return { ...step, routers, isPrivate: routers.length === 0 && seen.has(null) };
  });
}

/** The entries of the last rounds, by the share of these rounds: a hop may have fewer entries than there are rounds. */
export function lastOf<T>(entries: readonly T[], share: number): readonly T[] {
  return entries.slice(entries.length - Math.floor(entries.length * share));
}

/** Finding: the target stayed at its hop, and hops before it answered from other addresses. */
function ofHops(probeResult: Trace['probeResult'], { hop, hops, isOfPath, rounds }: RouteChange): FindingDraft {
  const { probe } = probeResult;
  const numbers = listed(hops.map(String), 8);
  if (isOfPath) {
    const text = `The path from ${probe} changed during the check, about round ${hop.first} of ${rounds}, unless the routers of hops ${numbers} answer by other interfaces since: hop ${hop.hop} answered as ${hop.from} before and as ${hop.to} after. From there on its hops show both paths, and what they lost belongs to no router.`;
    return buildFinding('path_changed', 'info', [probeResult], text);
  }
  const isOne = hops.length === 1;
  const others = isOne ? '' : `, and hop ${listed(hops.slice(1).map(String), 8)} changed then too`;
  const which = isOne
    ? 'another router, or the same one by another interface'
    : 'other routers, or the same ones by other interfaces';
  const text = `Hop ${hop.hop} answered ${probe} as ${hop.from} at first and as ${hop.to} from about round ${hop.first} of ${rounds} on${others}: ${which}. What the hops lost is laid to no router.`;
  return buildFinding('hop_changed', 'info', [probeResult], text);
}

/**
 * Finding: the target answered at several hops. Only the order of the answers tells a change from paths of different
 * length.
 */
function ofLength(trace: Trace, change: RouteChange | undefined): FindingDraft {
  const { probeResult } = trace;
  const { probe, result } = probeResult;
  const hops = targetHopsOf(trace);
  const [before, after] = hops as [TargetHop, TargetHop];
  const { rounds = after.round } = result;
  const places = listed(
    hops.map(({ hop }) => String(hop)),
    8,
  );
  if (hops.length === 2 && change !== undefined) {
    const how = after.hop > before.hop ? 'longer' : 'shorter';
    const text = `The path from ${probe} became ${how} during the check, about round ${after.round} of ${rounds}: the target was at hop ${before.hop} before and at hop ${after.hop} after. From there on its hops show both paths, and what they lost belongs to no router.`;
    return buildFinding('path_changed', 'info', [probeResult], text);
  }
  const order =
    hops.length === 2
      ? `at hop ${before.hop}, and from about round ${after.round} of ${rounds} on at hop ${after.hop}`
      : `at hop ${places} in the course of ${rounds} rounds`;
  const text = `The target answered ${probe} ${order}: the path changed, or packets take ways of different length. What its hops lost belongs to no router.`;
  return buildFinding('path_lengths', 'info', [probeResult], text);
}

/**
 * The change of the path between two rounds, if all hops that changed agree on the round and chance does not explain
 * that: a per-flow balancer never changes the answers of the one flow, and a per-packet one mixes them.
 */
export function pathChangeOf({ probeResult, isFinal }: Trace): RouteChange | undefined {
  const { rounds = 1, hops = [], flows = [] } = probeResult.result;
  const [flow] = flows;
  if (!isFinal || rounds < 2 || flow === undefined) return undefined;
  const changed = hops.flatMap((hop) => changedHop(hop, flow.hops[hop.hop - 1] ?? [], rounds) ?? []);
  const sorted = changed.toSorted((a, b) => a.hop - b.hop);
  const [first] = sorted;
  if (first === undefined) return undefined;
  const latest = Math.max(...changed.map(({ last }) => last));
  const earliest = Math.min(...changed.map((one) => one.first));
  const bits = changed.reduce((sum, one) => sum + one.bits, 0);
  if (bits < thresholds.pathChangeBits || latest >= earliest + SPREAD) return undefined;
  const isSilent = (answers: readonly (number | null)[]): boolean => answers.every((index) => index === null);
  const isOfPath = sorted.some(
    ({ hop }, at) => at > 0 && flow.hops.slice(sorted[at - 1]!.hop, hop - 1).every((answers) => isSilent(answers)),
  );
  return { hop: first, hops: sorted.map(({ hop }) => hop), isOfPath, rounds };
}

type Hop = NonNullable<Trace['probeResult']['result']['hops']>[number];

function changedHop(hop: Hop, answers: readonly (number | null)[], rounds: number): ChangedHop | undefined {
  const answered = answers.flatMap((index, at) => (index === null ? [] : [{ index, at }]));
  const [before, after] = [answered[0]?.index, answered.at(-1)?.index];
  if (before === undefined || after === undefined || before === after) return undefined;
  const split = answered.findIndex(({ index }) => index !== before);
  if (answered.slice(split).some(({ index }) => index !== after)) return undefined;
  // If a check has too few packets for every hop in every round, the hops take turns, and the round is estimated.
  const roundOf = (at: number): number => 1 + Math.floor((at * rounds) / answers.length);
  const [last, first] = [roundOf(answered[split - 1]!.at), roundOf(answered[split]!.at)];
  const bits = bitsOf(split, answered.length);
  return { hop: hop.hop, last, first, bits, from: nameOf(hop, before), to: nameOf(hop, after) };
}

/**
 * Evidence against a per-packet balancer, in bits: how improbable this order of answers is for any shares of its two
 * next hops.
 */
function bitsOf(before: number, all: number): number {
  return [before, all - before].reduce((sum, count) => sum - count * Math.log2(count / all), 0);
}

function nameOf({ responders }: Hop, index: number): string {
  const ip = responders[index]?.ip;
  return ip === null || ip === undefined ? 'a router whose address is not shown' : safeText(ip);
}

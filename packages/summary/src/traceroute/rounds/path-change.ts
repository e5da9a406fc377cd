import { buildFinding, type FindingDraft } from '../../finding.ts';
import { thresholds } from '../../thresholds.ts';
import { shown } from '../../words.ts';
import type { Trace } from '../trace.ts';

/** A hop that one router answered in the first rounds, and another one in all later ones. */
interface ChangedHop {
  readonly hop: number;
  /** Round of the last answer of the first router, and of the first answer of the other one. */
  readonly last: number;
  readonly first: number;
  /** Bits of evidence against a balancer that chose these answers by chance. */
  readonly bits: number;
  readonly from: string;
  readonly to: string;
}

interface RouteChange {
  readonly hop: ChangedHop;
  readonly rounds: number;
}

/** Rounds by which hops may disagree: the packets of a round are spread over a second, and a new route takes time to spread. */
const SPREAD = 1;

/** Finding: the path changed between two rounds of a trace. */
export function findPathChanges(traces: readonly Trace[]): readonly FindingDraft[] {
  return traces.flatMap((trace) => {
    const change = pathChangeOf(trace);
    if (change === undefined) return [];
    const { hop, rounds } = change;
    const { probeResult } = trace;
    const text = `The path from ${probeResult.probe} changed during the check, about round ${hop.first} of ${rounds}: hop ${hop.hop} was ${hop.from} before and ${hop.to} after. From there on its hops show both paths, and what they lost belongs to no router.`;
    return [buildFinding('path_changed', 'info', [probeResult], text)];
  });
}

/**
 * The change of the path between two rounds, if all hops that changed agree on the round and chance does not explain that: a
 * balancer by flow never changes the answers of the one flow, and one by packet mixes them.
 */
export function pathChangeOf({ probeResult, isFinal }: Trace): RouteChange | undefined {
  const { rounds = 1, hops = [], flows = [] } = probeResult.result;
  const [flow] = flows;
  if (!isFinal || rounds < 2 || flow === undefined) return undefined;
  const changed = hops.flatMap((hop) => changedHop(hop, flow.hops[hop.hop - 1] ?? [], rounds) ?? []);
  const [first] = changed.toSorted((a, b) => a.hop - b.hop);
  if (first === undefined) return undefined;
  const latest = Math.max(...changed.map(({ last }) => last));
  const earliest = Math.min(...changed.map((one) => one.first));
  const bits = changed.reduce((sum, one) => sum + one.bits, 0);
  return bits >= thresholds.pathChangeBits && latest < earliest + SPREAD ? { hop: first, rounds } : undefined;
}

type Hop = NonNullable<Trace['probeResult']['result']['hops']>[number];

function changedHop(hop: Hop, answers: readonly (number | null)[], rounds: number): ChangedHop | undefined {
  const answered = answers.flatMap((index, at) => (index === null ? [] : [{ index, at }]));
  const [before, after] = [answered[0]?.index, answered.at(-1)?.index];
  if (before === undefined || after === undefined || before === after) return undefined;
  const split = answered.findIndex(({ index }) => index !== before);
  if (answered.slice(split).some(({ index }) => index !== after)) return undefined;
  // Routers take turns if the packets of a check do not suffice: the round is then estimated.
  const roundOf = (at: number): number => 1 + Math.floor((at * rounds) / answers.length);
  const [last, first] = [roundOf(answered[split - 1]!.at), roundOf(answered[split]!.at)];
  const bits = bitsOf(split, answered.length);
  return { hop: hop.hop, last, first, bits, from: nameOf(hop, before), to: nameOf(hop, after) };
}

/** Bits with which a balancer by packet, whatever the shares of its two next hops, would not have given this order of answers. */
function bitsOf(before: number, all: number): number {
  return [before, all - before].reduce((sum, count) => sum - count * Math.log2(count / all), 0);
}

function nameOf({ responders }: Hop, index: number): string {
  const ip = responders[index]?.ip;
  return ip === null || ip === undefined ? 'a router whose address is not shown' : shown(ip);
}

import { buildFinding, type FindingDraft } from '../../finding.ts';
import { thresholds } from '../../thresholds.ts';
import { listed } from '../../words.ts';
import { chanceOfMore } from '../../chance.ts';
import { stepText, targetIndex, tracesOf, type Step, type Trace } from '../trace.ts';
import { isNoneAlive, lastAlive, spanIn, type Span } from './alive.ts';
import { isLateRather } from './late.ts';
import { NONE_ALIVE } from './outage.ts';
import { isChangedPath } from './path-change.ts';
import { mayBeStarved } from './starved.ts';

/**
 * Consecutive rounds of which the target answered none, although it answered later ones, and earlier ones if there are
 * any.
 */
export interface Pause {
  readonly trace: Trace;
  /** First and last round of the pause, from 1. */
  readonly from: number;
  readonly to: number;
  readonly rounds: number;
  /** The last hop before the target that answered meanwhile; undefined if none is known to. */
  readonly alive: Step | undefined;
  /** True if no hop answered meanwhile, not even the one next to the probe. */
  readonly isNoneAlive: boolean;
}

/**
 * The longest silence of the target before one of its answers, if neither chance, nor a rate limit, nor late answers
 * explain it. Undefined as well if the path may have changed, if a packet to the target’s hop was refused, or if that
 * hop did not get one packet per round.
 *
 * @param all the traces of the check: the more there are, the likelier one of them shows such a silence by chance
 */
export function pauseOf(trace: Trace, all: readonly Trace[]): Pause | undefined {
  const { isFinal, steps, probeResult } = trace;
  const { rounds = 1, hops = [] } = probeResult.result;
  const index = targetIndex(trace);
  if (!isFinal || rounds < 2 || index === undefined || isChangedPath(trace)) return undefined;
  const { hop, refused } = steps[index]!;
  const rtts = hops.find((one) => one.hop === hop)?.rtts ?? [];
  // Usually the target’s hop gets one packet per round. With another number, the round of an entry is unknown.
  if (refused > 0 || rtts.length !== rounds) return undefined;
  const span = longestGap(rtts);
  if (span === undefined || !isProved(rtts, span, all.length) || mayBeStarved(trace, span, all)) return undefined;
  if (isLateRather(trace, hop, span[1] - span[0]) || (span[0] === 0 && !isFullTtlSilent(trace))) return undefined;
  const alive = lastAlive(trace, hop, span, rounds);
  return { trace, from: span[0] + 1, to: span[1], rounds, alive, isNoneAlive: isNoneAlive(trace, hop, span, rounds) };
}

/** The trace without the packets of its pause, so that they count as no loss of its path. */
export function withoutPause(trace: Trace, all: readonly Trace[]): Trace {
  const pause = pauseOf(trace, all);
  if (pause === undefined) return trace;
  const { probeResult } = trace;
  const span: Span = [pause.from - 1, pause.to];
  const kept = <T>(entries: readonly T[]): T[] => {
    const [start, end] = spanIn(entries.length, span, pause.rounds);
    return entries.toSpliced(start, end - start);
  };
  const { hops = [], flows = [] } = probeResult.result;
  const result = {
    ...probeResult.result,
    hops: hops.map((hop) => ({ ...hop, rtts: kept(hop.rtts), ...(hop.packets && { packets: kept(hop.packets) }) })),
    flows: flows.map((flow) => ({ ...flow, hops: flow.hops.map(kept) })),
  };
  return tracesOf([{ ...probeResult, result }])[0] ?? trace;
}

/** True if the target answered none of the packets with the full TTL, which the first round sends to a silent one. */
function isFullTtlSilent({ fullTtl }: Trace): boolean {
  const rtts = fullTtl?.rtts ?? [];
  return rtts.length > 0 && rtts.every((rtt) => rtt === null);
}

/** The longest run of missing answers before an answer, as indexes [first, end); undefined without any. */
function longestGap(rtts: readonly (number | null)[]): Span | undefined {
  return gapsIn(rtts).toSorted(([a, b], [c, d]) => d - c - (b - a))[0];
}

function gapsIn(rtts: readonly (number | null)[]): readonly Span[] {
  const answered = rtts.flatMap((rtt, at) => (rtt === null ? [] : [at]));
  return answered.flatMap((at, index) => {
    const start = index === 0 ? 0 : answered[index - 1]! + 1;
    return at > start ? [[start, at] as const] : [];
  });
}

/**
 * True if neither a rate limit nor chance explains the silence. Under a rate limit the target would be silent
 * repeatedly, or directly after the many packets of the first round, of which it would answer the first. Chance takes
 * into account that the silence may begin at any round and at any probe.
 */
function isProved(rtts: readonly (number | null)[], [start, end]: Span, probes: number): boolean {
  const { silent, gaps, byChance } = thresholds.outage;
  const others = [...rtts.slice(0, start), ...rtts.slice(end)];
  const lost = others.filter((rtt) => rtt === null).length;
  const longest = Math.max(0, ...gapsIn(others).map(([from, to]) => to - from));
  const length = end - start;
  const chance = chanceOfMore({ sent: length, lost: length }, { sent: others.length, lost });
  return (
    start !== 1 &&
    length >= Math.max(silent, gaps * longest) &&
    chance * (rtts.length - length - 1) * probes <= byChance
  );
}

/** Finding: the target was silent for some rounds, then answered again. */
export function findPauses(traces: readonly Trace[]): readonly FindingDraft[] {
  const pauses = traces.flatMap((trace) => pauseOf(trace, traces) ?? []);
  if (pauses.length === 0) return [];
  const alive = pauses.map((one) => (one.alive === undefined ? '' : stepText(one.alive)));
  const isSame = new Set(alive).size === 1;
  const aliveText = (where: string | undefined): string => `the last hop that still answered is ${where}`;
  const silences = pauses.map(
    ({ trace, from, to, rounds }) => `rounds ${from} to ${to} of ${rounds} of ${trace.probeResult.probe}`,
  );
  const who = silences.map((silence, index) =>
    isSame || alive[index] === '' ? silence : `${silence} (${aliveText(alive[index])})`,
  );
  const end = isSame && alive[0] !== '' ? `; ${aliveText(alive[0])}` : '';
  const isFirst = pauses.map(({ from }) => from === 1);
  const what = isFirst.every(Boolean)
    ? 'The target was silent when the check began, and answered later'
    : `The target fell silent during the check${isFirst.some(Boolean) ? ', or was when it began' : ''}, and came back`;
  const text = `${what}: it answered none of ${listed(who)}${end}.${whyOf(pauses)}`;
  const results = pauses.map(({ trace }) => trace.probeResult);
  const brief = `not all the time: it answered none of ${listed(silences)}`;
  return [buildFinding('target_pauses', 'warning', results, text, brief)];
}

/** Possible causes. */
function whyOf(pauses: readonly Pause[]): string {
  const near = pauses.filter((pause) => pause.isNoneAlive);
  if (near.length === pauses.length) return NONE_ALIVE;
  const who = listed(near.map(({ trace }) => trace.probeResult.probe));
  const own =
    near.length === 0 ? '' : ` To ${who} no hop before it answered then either: that fault may be near the probe.`;
  return ` It or the path to it, there or back, may have failed for that time, the target or a filter blocked the probe, or others used up a limit of its answers.${own}`;
}

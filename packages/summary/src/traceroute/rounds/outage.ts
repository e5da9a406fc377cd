import { buildFinding, type FindingDraft } from '../../finding.ts';
import { groupBy } from '../../probe-result.ts';
import { thresholds } from '../../thresholds.ts';
import { listed } from '../../words.ts';
import { isNoneAlive, lastAlive } from './alive.ts';
import { isLateRather } from './late.ts';
import { mayBeStarved } from './starved.ts';
import { lastOf, targetHopsOf } from './path-change.ts';
import { chanceOfMore } from '../../chance.ts';
import { meaningOf } from '../steps/refusal-marks.ts';
import { sentBy, type PathRefusal } from '../refusals/refusals.ts';
import { placeKey, stepText, targetIndex, type Step, type Trace } from '../trace.ts';

/** The last rounds of a trace, of which the target answered none although it had answered before. */
export interface Outage {
  readonly trace: Trace;
  readonly rounds: number;
  /** Packets to the target’s hop without an answer at the end, usually one per round. */
  readonly unanswered: number;
  /** An ICMP error that came in these rounds. */
  readonly refusal: PathRefusal | undefined;
  /** The last hop that still answered; undefined if none is known to. */
  readonly alive: Step | undefined;
  /** True if no hop at all answered in these rounds, that next to the probe included. */
  readonly isNoneAlive: boolean;
}

type Hop = NonNullable<Trace['probeResult']['result']['hops']>[number];

/**
 * The outage of the target at the end of a trace, if a router reported it, or if neither chance nor a rate limit
 * explains it.
 *
 * @param all the traces of the check
 */
export function outageOf(trace: Trace, all: readonly Trace[]): Outage | undefined {
  const { isFinal, steps, probeResult } = trace;
  const { rounds = 1, flows = [] } = probeResult.result;
  const index = targetIndex(trace);
  const [flow] = flows;
  if (!isFinal || rounds < 2 || index === undefined || flow === undefined) return undefined;
  const hop = targetHopsOf(trace).at(-1)?.hop ?? steps[index]!.hop;
  const hops = hopsOf(trace);
  const row = hops.find((one) => one.hop === hop);
  if (row === undefined) return undefined;
  const indexes = flow.hops[hop - 1] ?? [];
  const answers = answersOf(row, indexes, trace.target);
  const unanswered = answers.length - 1 - answers.lastIndexOf(true);
  if (unanswered < thresholds.outage.refused || unanswered >= Math.min(answers.length, rounds)) return undefined;
  const beyond = isPassed(row, indexes, trace.target) ? routerBeyond(trace, hop) : null;
  if (beyond === undefined || isLateRather(trace, hop, unanswered)) return undefined;
  const share = unanswered / rounds;
  const refusal = refusalIn(trace, hops, hop, share);
  const span = [rounds - unanswered, rounds] as const;
  if (refusal === undefined && (!isProved(answers, unanswered) || mayBeStarved(trace, span, all))) return undefined;
  return {
    trace,
    rounds,
    unanswered,
    refusal,
    alive: beyond ?? lastAlive(trace, hop, span, rounds),
    isNoneAlive: isNoneAlive(trace, hop, span, rounds),
  };
}

/**
 * For each packet to the target’s hop, true if the target answered it. Answers of routers do not count, nor do
 * refusals, which older agents list as answers of their senders.
 */
function answersOf(row: Hop, indexes: readonly (number | null)[], target: string | null): readonly boolean[] {
  const { responders, icmp } = row;
  const isOther = icmp?.from !== undefined && icmp.from !== target;
  const refuser = !isOther ? -1 : responders.findIndex(({ ip }) => ip === icmp.from);
  return indexes.map((index) => index !== null && index !== refuser && !isRouters(row, index, target));
}

/** True if a router answered this packet to the target’s hop: the path had become longer. */
function isRouters({ responders, icmp }: Hop, index: number, target: string | null): boolean {
  const ip = responders[index]?.ip;
  return responders.some((one) => one.ip === target) && ip !== target && (icmp === null || ip !== icmp.from);
}

/** True if a router gave the last answer at the target’s hop: the path became longer. */
function isPassed(row: Hop, indexes: readonly (number | null)[], target: string | null): boolean {
  const last = indexes.findLast((index) => index !== null);
  return typeof last === 'number' && isRouters(row, last, target);
}

/**
 * The last router of a path that became longer, if several packets to the next hop got no answer, nor any to farther
 * ones. Otherwise undefined: the rounds may have ended before they reached the target again.
 */
function routerBeyond(trace: Trace, target: number): Step | undefined {
  const later = hopsOf(trace).filter(({ hop }) => hop >= target);
  const last = later.findLast(({ rtts }) => rtts.some((rtt) => rtt !== null))?.hop ?? target;
  const silent = later.find(({ hop }) => hop === last + 1);
  const step = trace.steps.find(({ hop }) => hop === last);
  if (step === undefined || (silent?.rtts.length ?? 0) < thresholds.outage.silent) return undefined;
  return { ...step, routers: step.routers.filter(({ ip }) => ip !== trace.target) };
}

/** Few losses at the end are common, and a target that rate-limits its answers is repeatedly silent for some rounds. */
function isProved(answers: readonly boolean[], unanswered: number): boolean {
  const { silent, gaps, byChance, long } = thresholds.outage;
  const before = answers.slice(0, answers.length - unanswered);
  const lost = before.filter((isAnswered) => !isAnswered).length;
  const longest = Math.max(0, ...gapsIn(before));
  const chance = chanceOfMore({ sent: unanswered, lost: unanswered }, { sent: before.length, lost });
  return unanswered >= Math.max(silent, gaps * longest) && (unanswered >= long || chance <= byChance);
}

function gapsIn(answers: readonly boolean[]): readonly number[] {
  let length = 0;
  return answers.map((isAnswered) => (length = isAnswered ? 0 : length + 1));
}

/** The ICMP error in the last rounds: at the target's hop, else at the last hop before it that got one. */
function refusalIn(trace: Trace, hops: readonly Hop[], target: number, share: number): PathRefusal | undefined {
  const row = hops.findLast((hop) => hop.hop <= target && isRefusedAtEnd(hop, share));
  const step = trace.steps.find(({ hop }) => hop === row?.hop);
  return row?.icmp && step !== undefined ? sentBy(trace, row.icmp, step) : undefined;
}

function isRefusedAtEnd({ icmp, packets = [], replies = [] }: Hop, share: number): boolean {
  return lastOf(packets, share).some((index) => {
    const reply = index === null ? undefined : replies[index];
    return reply !== undefined && icmp !== null && reply.type === icmp.type && reply.code === icmp.code;
  });
}

function hopsOf({ probeResult }: Trace): readonly Hop[] {
  return probeResult.result.hops ?? [];
}

/** Finding: the target stopped answering during the rounds. */
export function findOutages(outages: readonly Outage[]): readonly FindingDraft[] {
  const results = outages.map(({ trace }) => trace.probeResult);
  const groups = groupBy(results, (probeResult) =>
    keyOf(outages.find(({ trace }) => trace.probeResult === probeResult)!),
  );
  return groups.map(([, probeResults]) => {
    const own = outages.filter(({ trace }) => probeResults.includes(trace.probeResult));
    const who = listed(
      own.map(
        ({ trace, unanswered, rounds }) => `the last ${unanswered} of ${rounds} rounds of ${trace.probeResult.probe}`,
      ),
    );
    const text = `The target stopped answering during the check: it answered none of ${who}${reasonOf(own[0]!)}.${whyOf(own[0]!)}`;
    return buildFinding('target_stops', 'warning', probeResults, text, `not to the end: it answered none of ${who}`);
  });
}

function keyOf({ refusal, alive, isNoneAlive: isNone }: Outage): string {
  if (refusal === undefined) return alive === undefined ? String(isNone) : placeKey(alive);
  return `${refusal.step === undefined ? refusal.where : placeKey(refusal.step)} ${refusal.mark}`;
}

function reasonOf({ refusal, alive }: Outage): string {
  if (refusal !== undefined) return `, and ${refusal.where} said that ${meaningOf(refusal.mark)}`;
  return alive === undefined ? '' : `; the last hop that still answered is ${stepText(alive)}`;
}

/** Sentence: the hops before the target were silent too. */
export const NONE_ALIVE =
  ' No hop before it answered then either, from the first one on: the fault may be near the probe, and not of the target.';

/** Possible causes, unless a router named one. */
function whyOf({ refusal, isNoneAlive: isNone }: Outage): string {
  if (refusal !== undefined) return '';
  if (isNone) return NONE_ALIVE;
  return ' It or the path to it may have failed, or the target or a filter blocks the probe or limits answers after so many packets.';
}

import { buildFinding, type FindingDraft } from '../../finding.ts';
import { beginsOf, isExact, isOnLastLink, type Loss } from './begin.ts';
import { provedBegins } from './proved-begins.ts';
import { carriedTo, isLimitedRouter, lossyPaths, stepsToTarget, type LateAnswers } from './paths.ts';
import { isLateRather, lateAt } from '../rounds/late.ts';
import { outageOf } from '../rounds/outage.ts';
import { withoutPause } from '../rounds/pause.ts';
import { isChangedPath } from '../rounds/path-change.ts';
import { thresholds } from '../../thresholds.ts';
import { byText, groupBy } from '../../probe-result.ts';
import { countOf, listed, naming, percent, unique } from '../../words.ts';
import { hasDeadEnd, isPacketwise } from '../multipath/dead-ends.ts';
import { answersWhenSpaced, findSpacedLoss, isTargetLimited, lossyWhenSpaced } from './spaced.ts';
import { joinedPlaces } from '../steps/places.ts';
import { isSilent, placeKey, stepText, targetIndex, type Step, type Trace, type TraceResult } from '../trace.ts';

/**
 * Finds loss on paths, and routers that rate-limit their answers. Loss of forwarded packets appears at each hop from
 * its origin to the target; a router that answers only some packets may forward without loss.
 */
export function findLosses(traces: readonly Trace[]): readonly FindingDraft[] {
  const reached = reachedOf(traces);
  const losses = lossesOf(traces);
  const missing = lossesOf(traces, 'missing');
  const proved = lossyWhenSpaced(traces);
  // Each hop with loss is compared with those beyond it, and may have lost more by chance.
  const lossyHops = reached.flatMap(({ steps }) => steps.filter((step) => !isSilent(step) && step.lost > 0)).length;
  const groups = byPlace(losses.filter(({ begin, end }) => begin.hop !== end.hop));
  // Losses that begin in the same network are taken to have the same cause, so one that is proved suffices.
  const located = groups.filter((own) => own.some(({ trace }) => isIn(proved, trace)));
  const placed = located.flat().map(({ trace }) => trace);
  return [
    ...carriedOn(located),
    ...findSpacedLoss(proved.filter((trace) => !isIn(placed, trace))),
    ...unanswered(missing.filter(({ trace }) => !isIn(placed, trace) && !isIn(proved, trace))),
    // On lossy paths a hop with more loss by chance is common, hence the stricter level.
    ...rateLimited(
      // After a change of the path a hop shows routers of both paths, and behind a per-packet balancer it is unknown
      // which router of a hop a lost packet was for.
      reached.filter((trace) => !isChangedPath(trace) && !isPacketwise(trace.branching)),
      missing.length === 0 ? thresholds.lossByChance : thresholds.beginByChance / lossyHops,
    ),
  ];
}

function isIn(of: readonly Trace[], { probeResult }: Trace): boolean {
  return of.some((trace) => trace.probeResult.probe === probeResult.probe);
}

/** Finds where loss begins on each lossy path of `reachedOf`, as far as its packets prove. */
export function lossesOf(traces: readonly Trace[], late: LateAnswers = 'answered'): readonly Loss[] {
  const reached = reachedOf(traces);
  return provedBegins(beginsOf(lossyPaths(reached, late)), reached);
}

/**
 * Traces in which loss can be located: final ones to a target that answered, without dead ends and outages, and without
 * the rounds of the target’s pauses.
 */
function reachedOf(traces: readonly Trace[]): readonly Trace[] {
  const counted = traces.map((trace) => withoutPause(trace, traces));
  return counted.filter(
    (trace) =>
      trace.isFinal &&
      targetIndex(trace) !== undefined &&
      !hasDeadEnd(trace.branching) &&
      outageOf(trace, traces) === undefined,
  );
}

/** Answers from this hop and those behind it may return by other routers than answers from the hops before. */
const WAY_BACK =
  'The packets or the answers to them are lost: from there on answers may come back another way, which no trace shows.';

function carriedOn(places: readonly (readonly Loss[])[]): readonly FindingDraft[] {
  return places.map((own) => {
    const where = unique(own.map(placeText));
    const isLimited = own.some(({ trace }) => isTargetLimited(trace));
    const begins = own.length === 1 ? 'Loss begins' : `Loss of ${countOf(own.length, 'path')} begins`;
    const late = own.reduce((sum, { trace, end }) => sum + lateAt(trace, end.hop), 0);
    const further =
      late === 0 ? '' : ` ${countOf(late, 'more answer')} came after more than four seconds: late, not lost.`;
    const text = `${begins} ${listed(where, 3)} and carries on to the target, where ${sharesOf(own, isLimited ? 'misses answers to' : 'loses')}.${further} ${WAY_BACK}`;
    const brief = `loss begins ${placeText(own[0]!)}`;
    return buildFinding('path_loss', 'warning', probeResultsOf(own), text, brief);
  });
}

/** Describes where the loss begins, as far as proved. */
export function placeText(loss: Loss): string {
  const { after, begin, trace } = loss;
  // Behind parallel routers the packets may be lost on a path that does not lead to the router that answers.
  const isForked = (trace.steps.find(({ hop }) => hop === begin.hop - 1)?.routers.length ?? 0) > 1;
  if (isExact(loss) && begin.routers.length < 2 && !isForked) return `at ${stepText(begin)}`;
  const end = isForked ? `hop ${begin.hop}` : routerText(begin);
  return `between ${after === null ? trace.probeResult.probe : routerText(after)} and ${end}`;
}

/** The router of a hop as text, or only the hop if it has several routers, of which any may lose packets. */
function routerText(step: Step): string {
  return step.routers.length < 2 ? stepText(step) : `hop ${step.hop}`;
}

/** Finding: answers of the target are missing, because of loss or of a rate limit of its answers, or came too late. */
function unanswered(losses: readonly Loss[]): readonly FindingDraft[] {
  if (losses.length === 0) return [];
  const late = lateText(losses);
  const isAllLate = losses.every(({ trace, end }) => lateAt(trace, end.hop) >= end.lost);
  const what = `Packets to the target are not all answered${late === undefined ? '' : ' in time'}, ${sharesOf(losses, 'misses')}`;
  const causes = isAllLate ? '' : causesText(losses);
  const text =
    late === undefined
      ? `${what}: they are ${causes}`
      : `${what}. ${late}${isAllLate ? '' : ` The others are late, too, or ${causes}`}`;
  return [buildFinding('loss_at_target', 'info', probeResultsOf(losses), text)];
}

/** Clause: the possible causes of missing answers, followed by the evidence about them. */
function causesText(losses: readonly Loss[]): string {
  const traces = losses.map(({ trace }) => trace);
  const spaced = answersWhenSpaced(traces);
  const after =
    spaced === undefined || spaced.lost === 0
      ? ''
      : ` It answered ${spaced.sent - spaced.lost} of ${spaced.sent} packets sent after the trace.`;
  const isLast = losses.every(isOnLastLink);
  const isTcp = traces.every(({ probeResult }) => probeResult.result.protocol === 'tcp');
  const advice = isTcp ? '' : ' A trace over tcp to an open port tells: limits of ICMP do not apply to its handshakes.';
  return `lost on ${isLast ? 'its last link' : 'the way'}, or the target limits its answers, which all that ask it may share.${after}${isLast ? '' : ` ${beforeText(losses)}`}${advice}`;
}

/** Sentence with the number of missing answers that arrived too late to count; undefined for none. */
function lateText(losses: readonly Loss[]): string | undefined {
  const late = losses.reduce((sum, { trace, end }) => sum + Math.min(end.lost, lateAt(trace, end.hop)), 0);
  if (late === 0) return undefined;
  const lost = losses.reduce((sum, { end }) => sum + end.lost, 0);
  return `${late === 1 ? 'One' : late} of the ${lost} missing answers came after more than four seconds, too late to count.`;
}

/** Sentence about missing answers of hops before the target, by loss or by rate limits. */
function beforeText(losses: readonly Loss[]): string {
  const first = losses.map(({ trace }) => carriedTo(stepsToTarget(trace))[0]?.hop);
  const hops = unique(first.flatMap((hop) => (hop === undefined ? [] : [String(hop)])));
  return first.includes(undefined) || losses.some(({ trace }) => isChangedPath(trace))
    ? 'The hops before it do not tell which.'
    : `Answers of hops from hop ${listed(hops)} on are missing too: packets are lost from there on, or these routers limit their answers as well.`;
}

function rateLimited(traces: readonly Trace[], chance: number): readonly FindingDraft[] {
  const limited = traces.flatMap((trace) => {
    const steps = stepsToTarget(trace);
    return steps.flatMap((step, index) =>
      isLimitedRouter(steps, index, chance) && !isLateRather(trace, step.hop, step.lost) ? [{ trace, step }] : [],
    );
  });
  if (limited.length === 0) return [];
  const where = joinedPlaces(limited.map(({ step }) => routerText(step)));
  const probeResults = probeResultsOf(limited);
  const routers = where.every((place) => place.includes(',')) ? countOf(where.length, 'router') : 'some routers';
  const text = `Answers of ${routers} to ${naming(probeResults)} do not all arrive, and more do from the hops beyond: ${listed(where, 3)}. Such answers are limited, or lost on their way back: that is no loss of what is passed on.`;
  return [buildFinding('rate_limited_hop', 'info', probeResults, text)];
}

function byPlace(losses: readonly Loss[]): readonly (readonly Loss[])[] {
  const groups = groupBy(
    losses.map(({ trace }) => trace.probeResult),
    (probeResult) => {
      const loss = losses.find(({ trace }) => trace.probeResult === probeResult)!;
      return `${isExact(loss)} ${placeKey(loss.begin)}`;
    },
  );
  return groups.map(([, probeResults]) => losses.filter(({ trace }) => probeResults.includes(trace.probeResult)));
}

/** `fra-1 loses 40 %`, for each path; a long list is cut and ends with a count. */
export function sharesOf(losses: readonly Loss[], verb = 'loses'): string {
  const values = losses.map(({ trace, end }) => `${trace.probeResult.probe} ${verb} ${percent(end.lost / end.sent)}`);
  return listed(values);
}

function probeResultsOf(of: readonly { readonly trace: Trace }[]): readonly TraceResult[] {
  const probeResults = new Set(of.map(({ trace }) => trace.probeResult));
  return [...probeResults].toSorted((a, b) => byText(a.probe, b.probe));
}

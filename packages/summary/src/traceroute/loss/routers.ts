import { chanceOfMore, choices, sampleOf, type Sample } from '../../chance.ts';
import { coincidence } from './coincidence.ts';
import { countedSteps } from '../counted-steps.ts';
import { weightOfOrder } from './limits.ts';
import { isTargetLimited } from './spaced.ts';
import { thresholds } from '../../thresholds.ts';
import { isSilent, targetIndex, type Step, type Trace } from '../trace.ts';

/** A hop before the target that answered one probe. */
export interface Seen {
  readonly key: string;
  readonly trace: Trace;
  readonly step: Step;
  /** Packets of the same probe to the target. */
  readonly target: Sample;
}

/** Hops before the target of all traces, by router and target. */
export type Routers = ReadonlyMap<string, readonly Seen[]>;

export function routersOf(traces: readonly Trace[]): Routers {
  return Map.groupBy(traces.flatMap(seenOf), ({ key }) => key);
}

/**
 * True if rate limits of these routers of a path may explain their missing answers to all probes. False if loss that
 * begins before these routers explains them at least `lossOverLimit` times as well.
 */
export function mayAllBeLimited(trace: Trace, steps: readonly Step[], routers: Routers): boolean {
  const seen = steps.map((step) => routers.get(keyOf(trace, step)) ?? []);
  return weightOfShares(seen) + weightOfOrder(seen.flat()) > -Math.log(thresholds.lossOverLimit);
}

/**
 * True if routers of the path surely rate-limit their answers: one by the number of its answers, or neighbouring ones
 * because both left the same packets unanswered. Considers only routers beyond the last one that is lossless to all
 * probes.
 */
export function areSomeLimited(trace: Trace, routers: Routers): boolean {
  const all = seenOf(trace).map(({ key }) => routers.get(key) ?? []);
  const run = all.findLastIndex((seen) => seen.every(({ step }) => step.lost === 0)) + 1;
  return all.slice(run).some(isLimited) || coincidence(all.slice(run)) <= thresholds.beginByChance;
}

/** True if a router left more packets of all probes unanswered than the target did, unless chance explains that. */
function isLimited(seen: readonly Seen[]): boolean {
  const [router, target] = [sumOf(seen.map(({ step }) => step)), sumOf(seen.map((one) => one.target))];
  return router.lost > 0 && chanceOfMore(router, target) <= thresholds.beginByChance;
}

/**
 * Logarithm of the likelihood ratio of two causes of the shares of unanswered packets: rate limits, with a separate
 * share per router or one share for all, and loss, with the share of the target at every router.
 */
function weightOfShares(seen: readonly (readonly Seen[])[]): number {
  const samples = seen.map((own) => sumOf(own.map(({ step }) => step)));
  const targets = new Map(seen.flat().map(({ trace, target }) => [trace, target]));
  const [all, target] = [sumOf(samples), sumOf([...targets.values()])];
  const ofLoss = likelihoodOf(sumOf([all, target])) - likelihoodOf(target);
  const ofLimits = [samples.reduce((sum, one) => sum + likelihoodOf(one), 0), likelihoodOf(all)];
  return Math.log(ofLimits.reduce((sum, one) => sum + Math.exp(one - ofLoss), 0) / ofLimits.length);
}

/** Logarithm of the probability of one order of so many losses, if every share of lost packets is equally likely. */
function likelihoodOf({ sent, lost }: Sample): number {
  return -choices(sent, lost) - Math.log(sent + 1);
}

function keyOf({ target, probeResult }: Trace, { hop, routers: [router] }: Step): string {
  return `${target} ${router?.ip ?? `${probeResult.probe} ${hop}`}`;
}

export function seenOf(trace: Trace): readonly Seen[] {
  const steps = countedSteps(trace).slice(0, targetIndex(trace)! + 1);
  const target = packetsToTarget(trace, steps.at(-1)!);
  const answering = steps.slice(0, -1).filter((step) => !isSilent(step) && step.sent > 0);
  return answering.map((step) => ({ key: keyOf(trace, step), trace, step, target }));
}

/**
 * Packets to the target, including the groups that were sent after the trace, unless the trace has several flows:
 * groups take one path, which may lose more than others. If the target rate-limits its answers, only the first packets
 * of the groups count.
 */
function packetsToTarget(trace: Trace, end: Sample): Sample {
  const { spaced, flows = [] } = trace.probeResult.result;
  if (spaced === undefined || flows.length > 1 || trace.branching.length > 0) return end;
  if (isTargetLimited(trace)) return sampleOf(spaced.groups.flatMap((group) => group.slice(0, 1)));
  return sumOf([end, { sent: spaced.sent, lost: spaced.sent - spaced.received }]);
}

function sumOf(samples: readonly Sample[]): Sample {
  const sum = (what: keyof Sample): number => samples.reduce((total, one) => total + one[what], 0);
  return { sent: sum('sent'), lost: sum('lost') };
}

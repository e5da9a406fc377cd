import type { Path } from './begin.ts';
import { chanceOfMore } from '../../chance.ts';
import { countedSteps } from '../counted-steps.ts';
import { weightOfLimits } from './limits.ts';
import { areSomeLimited, mayAllBeLimited, routersOf, type Routers } from './routers.ts';
import { withLateAnswers } from '../rounds/late.ts';
import { isChangedPath } from '../rounds/path-change.ts';
import { thresholds } from '../../thresholds.ts';
import { isPacketwise } from '../multipath/dead-ends.ts';
import { isSilent, targetIndex, type Step, type Trace } from '../trace.ts';

/** How late answers count: as `answered` to locate loss, as `missing` to report the loss of the target. */
export type LateAnswers = 'answered' | 'missing';

/** Paths with loss at the target, without the packets to routers that are no evidence of that loss. */
export function lossyPaths(reached: readonly Trace[], late: LateAnswers): readonly Path[] {
  const routers = routersOf(reached);
  const lossy = reached.flatMap((trace) => lossyPath(trace, late) ?? []);
  const isUnlocated = (path: Path): boolean =>
    isChangedPath(path.trace) ||
    isPacketwise(path.trace.branching) ||
    mayBeLimited(path, lossy) ||
    mayBeLimitedOnWay(path, routers);
  return lossy.map((path) => (isUnlocated(path) ? withoutRouters(path) : path));
}

/** Hops up to the target, with rate-limited ones treated as silent; undefined without loss at the target. */
function lossyPath(trace: Trace, late: LateAnswers): Path | undefined {
  const counted = stepsToTarget(trace);
  const steps = late === 'missing' ? counted : counted.map((step) => withLateAnswers(trace, step));
  if (steps.at(-1)!.lost === 0) return undefined;
  return { trace, steps: steps.map((step, index) => (isLimitedRouter(steps, index) ? withoutPackets(step) : step)) };
}

/** Counted hops up to that of the target, which must have answered. */
export function stepsToTarget(trace: Trace): readonly Step[] {
  return countedSteps(trace).slice(0, targetIndex(trace)! + 1);
}

/** True if rate limits may explain the missing answers: the packets of all paths to the target do not prove loss. */
function mayBeLimited({ trace: { target } }: Path, all: readonly Path[]): boolean {
  const suspects = all
    .filter(({ trace }) => trace.target === target)
    .map(({ trace, steps }) => ({ trace, routers: carriedTo(steps) }));
  return weightOfLimits(suspects) > -Math.log(thresholds.lossOverLimit);
}

/**
 * True if a run of routers up to the target shows the loss, but does not prove that packets are lost before it. If one
 * of them surely rate-limits its answers, the others are taken to do so as well.
 */
function mayBeLimitedOnWay({ trace, steps }: Path, routers: Routers): boolean {
  const lossy = carriedTo(steps);
  return lossy.length > 0 && (areSomeLimited(trace, routers) || mayAllBeLimited(trace, lossy, routers));
}

function withoutRouters({ trace, steps }: Path): Path {
  return { trace, steps: [...steps.slice(0, -1).map(withoutPackets), steps.at(-1)!] };
}

/** The responding routers with loss directly before the target, up to the last lossless router. */
export function carriedTo(steps: readonly Step[]): readonly Step[] {
  const answering = steps.slice(0, -1).filter((step) => !isSilent(step) && step.sent > 0);
  return answering.slice(answering.findLastIndex(({ lost }) => lost === 0) + 1);
}

/** Removes a hop's packets: they are no evidence about forwarding. */
function withoutPackets(step: Step): Step {
  return { ...step, sent: 0, lost: 0 };
}

/**
 * True if a hop lost more than all hops beyond it, unless chance explains that: with real loss and few packets, later
 * hops may have answered all.
 */
export function isLimitedRouter(
  steps: readonly Step[],
  index: number,
  chance: number = thresholds.lossByChance,
): boolean {
  const step = steps[index]!;
  const beyond = steps.slice(index + 1).filter((one) => !isSilent(one));
  const passedOn = { sent: sumOf(beyond, 'sent'), lost: sumOf(beyond, 'lost') };
  return !isSilent(step) && step.lost > 0 && chanceOfMore(step, passedOn) <= chance;
}

function sumOf(steps: readonly Step[], what: 'sent' | 'lost'): number {
  return steps.reduce((sum, step) => sum + step[what], 0);
}

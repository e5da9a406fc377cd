import { thresholds } from '../../thresholds.ts';
import { isSilent, type Step, type Trace } from '../trace.ts';
import type { Loss } from './begin.ts';
import { beginChances, logsOfChain, type Begin, type ChainLogs } from './begin-chances.ts';
import { weightOfOrder } from './limits.ts';
import { stepsToTarget } from './paths.ts';
import { seenOf } from './routers.ts';
import { lossyWhenSpaced } from './spaced.ts';

/**
 * Share of the rate-limited routers whose answers on one path follow no order, because packets on other paths use up
 * the limit.
 */
const IN_ANY_ORDER = 0.5;
/** Maximum number of paths that are compared with that of a loss. */
const MOST_OTHERS = 15;

/** A path to the target, by its links and the likelihoods of its packets. */
interface LossPath {
  readonly trace: Trace;
  readonly length: number;
  /** For each hop, from hop 1, the link into it. */
  readonly links: readonly string[];
  readonly logs: ChainLogs;
}

/**
 * Widens the stretch of each loss until it begins there with a probability of at least 1 − `beginElsewhere`, given the
 * packets of its path and of up to `MOST_OTHERS` others to the target, chance, and rate limits of routers. If no
 * stretch before the target suffices, the loss begins at the target.
 */
export function provedBegins(losses: readonly Loss[], reached: readonly Trace[]): readonly Loss[] {
  if (losses.every(hasNoPlace)) return losses;
  const proved = new Set(lossyWhenSpaced(reached).map(({ probeResult }) => probeResult.probe));
  const known = new Map<Trace, LossPath>();
  const lossPathOfTrace = (trace: Trace): LossPath => {
    const way = known.get(trace) ?? lossPathOf(trace, proved.has(trace.probeResult.probe));
    known.set(trace, way);
    return way;
  };
  return losses.map((loss) => {
    if (hasNoPlace(loss)) return loss;
    const { target, probeResult } = loss.trace;
    const others = reached.filter((trace) => trace.target === target && trace.probeResult !== probeResult);
    const first = others.toSorted((a, b) => Number(isAlong(b, loss)) - Number(isAlong(a, loss)));
    return placed(loss, chancesOf(lossPathOfTrace(loss.trace), first.slice(0, MOST_OTHERS).map(lossPathOfTrace)));
  });
}

function hasNoPlace({ begin, end }: Loss): boolean {
  return begin.hop === end.hop;
}

/**
 * Probabilities that the loss of a path begins on the link into each of its hops, and, as the last one, that it begins
 * at the target for all paths alike.
 */
function chancesOf(own: LossPath, others: readonly LossPath[]): readonly number[] {
  const begins = own.links.map((link, index): Begin => [
    own.length - index - 1,
    ...others.map(({ links, length }) => {
      const at = links.indexOf(link);
      return at === -1 ? undefined : length - at - 1;
    }),
  ]);
  const atTarget: Begin = [own, ...others].map(() => 0);
  return beginChances(
    [own, ...others].map(({ logs }) => logs),
    [...begins, atTarget],
  );
}

/**
 * Moves a loss to the shortest stretch between two answering hops that contains its own stretch and has a probability
 * of at least 1 − `beginElsewhere`; to the target if there is none.
 */
function placed(loss: Loss, chances: readonly number[]): Loss {
  const { trace, after, begin, end } = loss;
  const steps = answering(trace);
  const afters = [null, ...steps].filter((step) => (step?.hop ?? 0) <= (after?.hop ?? 0));
  const begins = steps.filter(({ hop }) => hop >= begin.hop && hop < end.hop);
  const isProved = (from: Step | null, to: Step): boolean =>
    chances.slice(from?.hop ?? 0, to.hop).reduce((sum, one) => sum + one, 0) >= 1 - thresholds.beginElsewhere;
  const [found] = afters
    .flatMap((from) => begins.filter((to) => isProved(from, to)).map((to) => ({ from, to })))
    .toSorted((a, b) => lengthOf(a) - lengthOf(b));
  return found === undefined ? { ...loss, after: null, begin: end } : { ...loss, after: found.from, begin: found.to };
}

function lengthOf({ from, to }: { readonly from: Step | null; readonly to: Step }): number {
  return to.hop - (from?.hop ?? 0);
}

function lossPathOf(trace: Trace, isProved: boolean): LossPath {
  const end = stepsToTarget(trace).at(-1)!;
  const seen = seenOf(trace);
  const routers = seen.map((one) => {
    const { hop, sent, lost } = one.step;
    return { sent, lost, distance: end.hop - hop, order: weightOfOrder([one], IN_ANY_ORDER) };
  });
  const links = Array.from({ length: end.hop }, (_, index) => linkInto(trace, index + 1));
  const target = seen[0]?.target ?? end;
  return { trace, length: end.hop, links, logs: logsOfChain({ routers, target, isProved, length: end.hop }) };
}

/** Names a link by the nearest hops that answer, and by the probe if no hop before it answers. */
function linkInto(trace: Trace, hop: number): string {
  const steps = answering(trace);
  const before = steps.findLast((step) => step.hop < hop);
  const beyond = steps.find((step) => step.hop >= hop);
  const nameOf = (step: Step | undefined): string =>
    step?.routers[0]?.ip ?? `${trace.probeResult.probe} ${step?.hop ?? 0}`;
  return `${nameOf(before)} ${hop - (before?.hop ?? 0)} ${nameOf(beyond)}`;
}

function answering(trace: Trace): readonly Step[] {
  return stepsToTarget(trace).filter((step) => !isSilent(step));
}

/** True if the trace passed the first router that shows the loss. */
function isAlong(trace: Trace, { begin }: Loss): boolean {
  const ip = begin.routers[0]?.ip;
  return ip !== undefined && trace.steps.some(({ routers }) => routers[0]?.ip === ip);
}

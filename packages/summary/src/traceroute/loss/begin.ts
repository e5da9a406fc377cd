import { thresholds } from '../../thresholds.ts';
import { chanceOfMore, type Sample } from '../../chance.ts';
import { isSilent, type Step, type Trace } from '../trace.ts';

/** A path to a target with loss: its hops up to the target, with the packets that count (`countedSteps`). */
export interface Path {
  readonly trace: Trace;
  readonly steps: readonly Step[];
}

/**
 * Loss that begins behind `after`, or behind the probe, and at the latest on the link to `begin`. Each responding hop
 * from `begin` to the target shows it, unless other paths moved `begin` towards the probe.
 */
export interface Loss {
  readonly trace: Trace;
  /** Last hop before `begin` that is proved lossless; null if none is. */
  readonly after: Step | null;
  readonly begin: Step;
  readonly end: Step;
  /** All hops before the target. Packets whose loss says nothing about forwarding count neither as sent nor as lost. */
  readonly before: readonly Step[];
}

/**
 * Locates where the loss of each path begins. With few packets a hop may have answered all of them by chance: it counts
 * as lossless only if chance does not explain its lower loss, given the packets of all paths through the router.
 */
export function beginsOf(paths: readonly Path[]): readonly Loss[] {
  const losses = paths.map((path) => beginOf(path, paths));
  return losses.map((loss) => narrowed(loss, losses));
}

/** True if the link into the hop is the only possible location. */
export function isExact({ after, begin }: Loss): boolean {
  return begin.hop === 1 || after?.hop === begin.hop - 1;
}

/** True if only the link into the target may lose the packets: one router leads to it, and no hop before loses any. */
export function isOnLastLink(loss: Loss): boolean {
  const { before, begin, end } = loss;
  const isOfOne = (before.at(-1)?.routers.length ?? 0) < 2;
  return begin.hop === end.hop && isExact(loss) && isOfOne && before.every(({ lost }) => lost === 0);
}

function beginOf({ trace, steps }: Path, paths: readonly Path[]): Loss {
  const end = steps.at(-1)!;
  const before = steps.slice(0, -1);
  const clean = before.findLastIndex((step) => isAnswering(step) && step.lost === 0);
  const begin = before.slice(clean + 1).find(isAnswering) ?? end;
  const lossy = steps.filter(({ hop }) => hop >= begin.hop).filter(isAnswering);
  const after = before.findLast(
    (step) =>
      step.hop < begin.hop &&
      isAnswering(step) &&
      isOnEveryWay(step, trace) &&
      isClean(pooled(step, paths), lossy, paths),
  );
  return { trace, after: after ?? null, begin, end, before };
}

/** A hop that is silent on one of several parallel paths does not prove that path lossless. */
function isOnEveryWay({ hop }: Step, { routes, branching }: Trace): boolean {
  if (branching.some((node) => node.hop === hop && node.kind === 'silent')) return false;
  const own = routes.flatMap(({ isReached, steps }) => (isReached ? steps.filter((step) => step.hop === hop) : []));
  return own.every((step) => !isSilent(step));
}

function isAnswering(step: Step): boolean {
  return !isSilent(step) && step.sent > 0;
}

function isClean(sample: Sample, lossy: readonly Step[], paths: readonly Path[]): boolean {
  const samples = lossy.map((step) => pooled(step, paths));
  const beyond = { sent: sumOf(samples, 'sent'), lost: sumOf(samples, 'lost') };
  return sample.lost === 0 && chanceOfMore(beyond, sample) <= thresholds.beginByChance;
}

/** Packets of all paths at the router, combined; those of the step alone if its router is not known. */
function pooled(step: Step, paths: readonly Path[]): Sample {
  const [router] = step.routers;
  if (router === undefined) return step;
  const same = paths.flatMap(({ steps }) => steps.filter(({ routers: [first] }) => first?.ip === router.ip));
  return { sent: sumOf(same, 'sent'), lost: sumOf(same, 'lost') };
}

function sumOf(samples: readonly Sample[], what: keyof Sample): number {
  return samples.reduce((sum, one) => sum + one[what], 0);
}

/**
 * Narrows a loss by other paths: if one of them has a candidate link and shows loss behind it, the loss begins there or
 * before.
 */
function narrowed(loss: Loss, losses: readonly Loss[]): Loss {
  const { trace, after, begin } = loss;
  const steps = trace.steps.filter(({ hop }) => hop > (after?.hop ?? 0) && hop < begin.hop);
  const found = steps.find((step) =>
    losses.some((other) => {
      const [before, own] = [other.trace.steps, trace.steps].map((all) => all.find(({ hop }) => hop === step.hop - 1));
      return isSame(other.begin, step) && before !== undefined && own !== undefined && isSame(before, own);
    }),
  );
  return found === undefined ? loss : { ...loss, begin: found };
}

function isSame(a: Step, b: Step): boolean {
  return a.hop === b.hop && a.routers[0] !== undefined && a.routers[0].ip === b.routers[0]?.ip;
}

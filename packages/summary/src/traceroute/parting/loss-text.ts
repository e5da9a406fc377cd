import { listed, percent } from '../../words.ts';
import type { Loss } from '../loss/begin.ts';
import { chanceOfMore, type Sample } from '../../chance.ts';
import { placeText, sharesOf } from '../loss/losses.ts';
import { partingNetworkText, onwardText } from './network-text.ts';
import { isSameRouter } from './same-router.ts';
import { stepText, targetIndex, type Step, type Trace } from '../trace.ts';
import { thresholds } from '../../thresholds.ts';

/** A path with loss, and the part of it before the loss that paths of working probes share. */
interface LossyFork {
  readonly loss: Loss;
  /** The last router before the loss that also answered a working probe. */
  readonly common: Step | undefined;
  /** The next router of that working probe. */
  readonly onward: Step | undefined;
  /** True if a hop between the common router and the first hop with loss is not known. */
  readonly isGapped: boolean;
  /** Whether the path of a working probe leads from the common router to the first router with loss. */
  readonly isShared: boolean;
}

/**
 * Text about failing probes some of whose packets reach the target.
 *
 * @param losses of the failing probes; not empty
 * @param working traces of working probes that reach the target
 */
export function lossText(losses: readonly Loss[], working: readonly Trace[]): string {
  const failing = listed(losses.map(({ trace }) => trace.probeResult.probe));
  const same = working.filter(({ target }) => losses.some(({ trace }) => trace.target === target));
  const [first] = [...Map.groupBy(losses, placeText).values()].toSorted((a, b) => b.length - a.length);
  const begins = `loss begins ${placeText(first![0]!)}`;
  if (same.length === 0) {
    return `Paths from the failing ${failing} reach the target with loss: ${begins} (${sharesOf(first!)}), and no working probe was traced to compare`;
  }
  const who = `Paths from the failing ${failing} and from the working ${listed(same.map(({ probeResult }) => probeResult.probe))}`;
  const [own, others] = [pooled(losses.map(({ trace }) => trace)), pooled(same)];
  if (others.lost > 0 && chanceOfMore(own, others) > thresholds.lossByChance) {
    return `${who} reach the target, and both lose packets: ${shareOf(own)} and ${shareOf(others)}`;
  }
  const { common, onward, isGapped, isShared } = forkOf(first![0]!, same);
  const rest = `lose ${shareOf(others)}`;
  // The common router is named once.
  const what = common === undefined ? begins : begins.replace(`between ${stepText(common)} and `, 'between it and ');
  if (isShared) {
    const place = common === undefined ? '' : ` up to ${stepText(common)} and beyond`;
    return `${who} pass the same routers${place}, and ${what} for the failing ones alone (${sharesOf(first!)}), while the working ones ${rest}: it may be on the way back, or on one way of a load balancer`;
  }
  if (common === undefined)
    return `${who} show no router in common before loss shows: ${what} (${sharesOf(first!)}), and the working ones ${rest}`;
  const place = `${who} show ${stepText(common)} as the last router in common before loss shows:`;
  const loss = `${what} (${sharesOf(first!)})`;
  const goOn = `the working ones go on${onwardText(onward, first![0]!.trace.target)} and ${rest}`;
  // A hop that is unknown on the failing path may be another common router.
  return isGapped
    ? `${place} ${loss}, ${goOn}, and whether they part is not known, since hops in between are not known`
    : `${place} they part ${partingNetworkText(common, onward)}, ${loss}, and ${goOn}`;
}

/** Sentence: answers of the target are missing, because of loss or of a rate limit of its answers. */
export function unansweredText(losses: readonly Loss[]): string {
  const failing = listed(losses.map(({ trace }) => trace.probeResult.probe));
  return `Paths from the failing ${failing} reach the target, which does not answer all packets (${sharesOf(losses, 'misses')}): they are lost, or it limits its answers.`;
}

function forkOf(loss: Loss, working: readonly Trace[]): LossyFork {
  const { trace, begin } = loss;
  const before = trace.steps.filter(({ hop }) => hop < begin.hop);
  const common = before.findLast((step) => working.some((other) => indexOf(other, step) !== -1));
  const passing = working.filter((other) => common === undefined || indexOf(other, common) !== -1);
  const isTarget = begin.routers.some(({ ip }) => ip === trace.target);
  const isShared = passing.some((other) => follows(other, common, begin, isTarget));
  const [other] = passing;
  const isGapped = before.some((step) => step.hop > (common?.hop ?? 0) && !isAnswering(step));
  const at = other === undefined || common === undefined ? -1 : indexOf(other, common);
  return {
    loss,
    common,
    onward: at === -1 ? undefined : other!.steps.slice(at + 1).find(isAnswering),
    isGapped,
    isShared,
  };
}

/**
 * True if the next router to answer after the common one is where the loss begins. Without a common router, loss at the
 * target proves nothing, because all paths lead there.
 */
function follows({ steps, target }: Trace, common: Step | undefined, begin: Step, isTarget: boolean): boolean {
  const from = common === undefined ? -1 : steps.findIndex((step) => isSameRouter(step, common, target));
  const next = steps.slice(from + 1).find(isAnswering);
  return next !== undefined && isSameRouter(next, begin, target) && (common !== undefined || !isTarget);
}

const isAnswering = ({ routers }: Step): boolean => routers.length > 0;

function indexOf({ steps, target }: Trace, step: Step): number {
  return steps.findIndex((one) => isSameRouter(one, step, target));
}

/** Sent and lost packets at the target's hop, of all traces together. */
function pooled(traces: readonly Trace[]): Sample {
  const ends = traces.map((trace) => trace.steps[targetIndex(trace) ?? trace.steps.length - 1]!);
  return { sent: ends.reduce((sum, { sent }) => sum + sent, 0), lost: ends.reduce((sum, { lost }) => sum + lost, 0) };
}

function shareOf({ sent, lost }: Sample): string {
  return lost === 0 ? `none of ${sent} packets` : `${lost} of ${sent} packets (${percent(lost / sent)})`;
}

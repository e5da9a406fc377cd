import type { Check } from '@vantage/contract';

import { measurementsOf } from '../../measurements.ts';
import { ofType, probeResultsOf, type ProbeResult } from '../../probe-result.ts';
import { listed, safeText, unique } from '../../words.ts';
import { answersEchoAlone } from '../../partition.ts';
import { lastAnswer } from '../end-reason.ts';
import { lossesOf } from '../loss/losses.ts';
import { lossyWhenSpaced } from '../loss/spaced.ts';
import { endsText, isEndKnown, silenceText, withEnd, type Broken } from './broken.ts';
import { lossText, unansweredText } from './loss-text.ts';
import { namesOf, protocolsOf } from './names.ts';
import { FAULTLESS, reachedText } from './reached-text.ts';
import { isSameRouter } from './same-router.ts';
import { partingNetworkText, onwardText } from './network-text.ts';
import { refusalsText } from './refusal-text.ts';
import { isSilent, stepText, tracesOf, type Step, type Trace } from '../trace.ts';

/**
 * One sentence about the traceroute of a monitor that became bad, or one per address family if it measured both: the
 * last router that the paths from failing and from working probes have in common, and the network in which they
 * diverge. It describes the traces without attributing the fault.
 *
 * @param failing probes at which the monitor fails
 * @returns undefined if the traces are inconclusive
 */
export function partingSentence(check: Check, failing: readonly string[]): string | undefined {
  const results = probeResultsOf(check, new Map());
  const both = results.flatMap((one) => measurementsOf(one) ?? []);
  if (both.length === 0) return sentenceOf(results, failing);
  // Leaves out a family without a sentence, and one over whose paths nothing fails. If both are left out, only the
  // first measurements are described.
  const [ipv4, ipv6] = ([4, 6] as const).map((family) => {
    const sentence = sentenceOf(
      both.map((of) => of[family]),
      failing,
    );
    return sentence === undefined || sentence.includes(FAULTLESS) ? undefined : `Over IPv${family}: ${sentence}`;
  });
  const sentences = [ipv4, ipv6].filter((sentence) => sentence !== undefined);
  return sentences.length > 0 ? sentences.join(' ') : sentenceOf(results, failing);
}

function sentenceOf(results: readonly ProbeResult[], failing: readonly string[]): string | undefined {
  const traces = tracesOf(ofType<'traceroute'>(results)).filter(({ isFinal }) => isFinal);
  const isFailing = ({ probeResult }: Trace): boolean => failing.includes(probeResult.probe);
  const own = traces.filter(isFailing);
  const through = own.filter(({ isReached }) => isReached);
  const broken = own
    .filter(({ isReached }) => !isReached)
    .map(withEnd)
    .filter((trace) => brokenReasons.has(trace.end) || isFiltered(trace));
  const working = traces.filter((trace) => !isFailing(trace) && trace.isReached);
  if (broken.length === 0) {
    const losses = lossesOf(traces).filter(({ trace }) => isFailing(trace));
    const proved = lossyWhenSpaced(traces);
    const lossy = losses.filter(({ trace }) =>
      proved.some(({ probeResult }) => probeResult.probe === trace.probeResult.probe),
    );
    if (lossy.length > 0) return `${lossText(lossy, working)}.`;
    if (losses.length > 0) return unansweredText(losses);
    return through.length === 0
      ? undefined
      : reachedText(
          through,
          traces.filter((trace) => !isFailing(trace)),
        );
  }
  const same = working.filter(({ target }) => broken.some((trace) => trace.target === target));
  const others = `${through.length === 0 ? '' : `; those from ${namesOf(through)} reach the target`}${filterText(broken)}${refusalText(broken)}`;
  if (working.length > 0 && same.length === 0) return `${otherTargetText(broken, working)}${others}.`;
  if (same.length === 0) return `${endsText(broken)}, and no working probe was traced to compare${others}.`;
  return `${partsText(broken, same)}${others}.`;
}

const brokenReasons: ReadonlySet<string> = new Set(['silent', 'refused', 'loop']);

/**
 * True if nothing answered the UDP or TCP packets of a trace beyond some hop, but the target did answer its echo
 * requests.
 */
function isFiltered({ end, probeResult: { result } }: Broken): boolean {
  return end === 'cut' && (result.echo?.received ?? 0) > 0 && answersEchoAlone(result) && result.protocol !== 'icmp';
}

function filterText(broken: readonly Broken[]): string {
  const filtered = broken.filter(isFiltered);
  if (filtered.length === 0) return '';
  return `; the target answers the echo requests of ${namesOf(filtered)}: a filter on the way or the target itself drops the ${protocolsOf(filtered)} packets, or one of several ways to it is broken`;
}

function refusalText(broken: readonly Broken[]): string {
  const refusals = broken.flatMap(({ refusal }) => refusal ?? []);
  return refusals.length === 0 ? '' : `; ${refusalsText(refusals)}`;
}

function otherTargetText(broken: readonly Broken[], working: readonly Trace[]): string {
  const of = (traces: readonly Trace[]): string =>
    listed(unique(traces.flatMap(({ target }) => (target === null ? [] : [safeText(target)]))));
  return `The failing ${namesOf(broken)} went to another address (${of(broken)}) than the working ${namesOf(working)} (${of(working)}): their paths cannot be compared`;
}

/** The last router of a failing path that is also on the path of a working probe, with the next router on the latter. */
interface Fork {
  readonly trace: Broken;
  readonly at: Step;
  /** The next router on the path of a working probe. */
  readonly onward: Step | undefined;
  /** True if the next hop of either path is not known, and the failing path has a further answer. */
  readonly isGapped: boolean;
}

function partsText(broken: readonly Broken[], working: readonly Trace[]): string {
  const forks = broken.flatMap(
    (trace) =>
      forkOf(
        trace,
        working.filter(({ target }) => target === trace.target),
      ) ?? [],
  );
  const [first] = [...Map.groupBy(forks, ({ at }) => at.routers[0]!.ip).values()].toSorted(
    (a, b) => b.length - a.length,
  );
  const who = `Paths from the failing ${namesOf(broken)} and from the working ${namesOf(working)}`;
  if (first === undefined) return `${who} show no router in common: ${lowered(endsText(broken))}`;
  const [{ at, onward, trace }] = first as [Fork];
  const goesOn = `the working ones go on${onwardText(onward, trace.target)}`;
  const some = first.length === broken.length ? '' : ` (of ${namesOf(first.map(({ trace }) => trace))})`;
  const common = `${who} show ${stepText(at)} as the last router in common${some}`;
  // A hop that is unknown on either path may be another common router.
  if (first.some(({ isGapped }) => isGapped)) {
    return `${common}: ${lowered(endsOf(broken, first))}, ${goesOn}, and where they part is not known, since hops in between are not known`;
  }
  const isEnd = first.length === broken.length && first.every((one) => lastAnswer(one.trace) === one.at);
  const network = partingNetworkText(at, onward);
  const packets = first.every((one) => isFiltered(one.trace)) ? `the ${protocolsOf(broken)} packets of ` : '';
  const where = network === 'there' ? '' : `, ${network},`;
  const silence = `beyond it${where} nothing answers ${packets}the failing ones${silenceText(broken)}`;
  const end = broken.every(isEndKnown) ? 'the failing ones go no further' : silence;
  const parts = isEnd ? end : `they part ${network}, ${lowered(endsOf(broken, first))}`;
  return `${common}: ${parts}, and ${goesOn}`;
}

/** The ends of the failing paths. Some may be at the router in common, which the sentence has already named. */
function endsOf(broken: readonly Broken[], forks: readonly Fork[]): string {
  const ending = forks.filter(({ trace, at }) => lastAnswer(trace) === at).map(({ trace }) => trace);
  const others = broken.filter((trace) => !ending.includes(trace));
  if (ending.length === 0 || others.length === 0) return endsText(broken);
  const names = namesOf(ending);
  const ends = ending.every(isEndKnown)
    ? `Those from ${names} go no further`
    : `Nothing answers those from ${names} beyond it`;
  return `${ends}, ${lowered(endsText(others)).replace('failing ones', `ones from ${namesOf(others)}`)}`;
}

function forkOf(trace: Broken, working: readonly Trace[]): Fork | undefined {
  const isSame = (a: Step, b: Step): boolean => isSameRouter(a, b, trace.target);
  const passedBy = (step: Step): Trace | undefined =>
    working.find(({ steps }) => steps.some((other) => isSame(step, other)));
  const at = trace.steps.findLast((step) => step.routers.length > 0 && passedBy(step) !== undefined);
  if (at === undefined) return undefined;
  const { steps } = passedBy(at)!;
  const [beyond, own] = [
    steps.slice(steps.findIndex((step) => isSame(at, step)) + 1),
    trace.steps.slice(trace.steps.indexOf(at) + 1),
  ];
  const isGapped =
    own.some((step) => !isSilent(step)) && [beyond, own].some(([next]) => next !== undefined && !isKnown(next));
  return { trace, at, onward: beyond.find(isKnown), isGapped };
}

const isKnown = ({ routers }: Step): boolean => routers.length > 0;

function lowered(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

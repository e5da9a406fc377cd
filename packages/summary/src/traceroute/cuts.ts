import { buildFinding, type FindingDraft } from '../finding.ts';
import { answersSome } from '../answers-some.ts';
import { endsBeforeTarget } from '../ends-before-target.ts';
import { answersEchoAlone } from '../partition.ts';
import { listed, naming } from '../words.ts';
import { endReason, grouped, lastAnswer, probeResults } from './end-reason.ts';
import { chosenText } from './steps/chosen-packets.ts';
import { findSizeCuts, isCutBySize } from './mtu/size-cut.ts';
import { joinedPlaces } from './steps/places.ts';
import { forkOf, routersPassed } from './stops.ts';
import { placeKey, stepText, type Trace, type TraceResult } from './trace.ts';

/**
 * Findings: probes get no answer although the target answers some packets of others, or another trace of the probe, so
 * that their silence may be chance or a rate limit.
 */
export function unheard(traces: readonly Trace[]): readonly FindingDraft[] {
  return grouped(traces, (trace) => `${trace.fullTtl?.answersOthers === true} ${isUnseen(trace)}`).map((own) => {
    const from = isUnseen(own[0]!) ? '' : ` from beyond hop ${lastHops(own)}`;
    const why =
      own[0]!.fullTtl?.answersOthers === true
        ? 'The target answered another trace of the probe meanwhile: it may limit its answers, and the silence proves no more.'
        : 'The target answers some packets only of the probes that reach it: packets are lost, or it limits its answers, and that one hears none proves no more.';
    const text = `Nothing came back to ${naming(probeResults(own))}${from}. ${why}`;
    return buildFinding('path_cut', 'info', probeResults(own), text);
  });
}

/** Findings about traces whose end is `cut`: they do not show that the last router seen is at fault. */
export function cuts(traces: readonly Trace[]): readonly FindingDraft[] {
  const cut = traces.filter((trace) => endReason(trace) === 'cut');
  const rest = cut.filter((trace) => !isCutBySize(trace));
  const byChoice = rest.filter(isCutByChoice);
  const byEcho = rest.filter((trace) => answersEchoAlone(trace.probeResult.result) && !byChoice.includes(trace));
  const others = rest.filter((trace) => !byEcho.includes(trace) && !byChoice.includes(trace));
  const sameTarget = ({ target }: Trace): readonly TraceResult[] =>
    probeResults(traces.filter((trace) => trace.target === target));
  const ended = byEcho.filter((trace) => endsBeforeTarget(trace.probeResult.result, sameTarget(trace)));
  const unclear = byEcho.filter((trace) => !ended.includes(trace));
  const isShared = (trace: Trace): boolean => answersSome(sameTarget(trace));
  return [
    ...findSizeCuts(cut),
    ...ordinaryAlone(byChoice),
    ...endedWays(ended, routersPassed(traces)),
    ...echoAlone(
      unclear.filter((trace) => !isShared(trace)),
      'warning',
    ),
    ...echoAlone(unclear.filter(isShared), 'info'),
    ...cutShort(others),
  ];
}

/**
 * Findings: the target answers the echo requests that accompany a trace, and none of its packets. A filter on the path
 * and a silent target are indistinguishable from outside.
 *
 * @param severity info if the target leaves half of the packets of traces that reach it unanswered: it rate-limits its
 *   answers, or loses them
 */
function echoAlone(traces: readonly Trace[], severity: 'warning' | 'info'): readonly FindingDraft[] {
  const keyOf = (trace: Trace): string => `${trace.probeResult.result.protocol ?? ''} ${isUnseen(trace)}`;
  return grouped(traces, keyOf).map((own) => {
    const { protocol, size } = own[0]!.probeResult.result;
    const who = naming(probeResults(own));
    const known = isUnseen(own[0]!)
      ? 'No hop of the path is known.'
      : `The path is known up to hop ${lastHops(own)} only.`;
    const name = protocol?.toUpperCase() ?? '';
    const [asked, why, brief] =
      protocol === 'icmp'
        ? ['other echo requests', '', `${who} ${own.length === 1 ? 'gets' : 'get'} answers to some packets only`]
        : [
            'echo requests',
            'a filter on the way or the target itself drops those, or ',
            `it answers echo requests only of ${who}, not ${name}`,
          ];
    const bytes = size?.toLocaleString('en') ?? '';
    const [packet, bySize] =
      size === undefined
        ? ['packet', '']
        : [`packet of ${bytes} bytes`, `packets of this size, or their answers, are dropped, or `];
    const text = `The target answers ${asked} of ${who}, and no ${name} ${packet} of the trace: ${bySize}${why}it limits its answers, or one of several ways to it is broken. ${known}`;
    return buildFinding('path_cut', severity, probeResults(own), text, brief);
  });
}

/**
 * Findings: traces end before the target (`endsBeforeTarget`), while it answers the echo requests that accompany them:
 * these take another path, or pass a filter.
 *
 * @param passed routers on paths that reach the target
 */
function endedWays(traces: readonly Trace[], passed: ReadonlySet<string>): readonly FindingDraft[] {
  const keyOf = (trace: Trace): string => `${trace.probeResult.result.protocol ?? ''} ${placeKey(lastAnswer(trace)!)}`;
  return grouped(traces, keyOf).map((own) => {
    const { protocol } = own[0]!.probeResult.result;
    const who = naming(probeResults(own));
    const asked = `${own.length === 1 ? 'its' : 'their'} ${protocol === 'icmp' ? 'other ' : ''}echo requests`;
    const where = joinedPlaces(own.map((trace) => stepText(lastAnswer(trace)!)));
    const forks = joinedPlaces(own.flatMap((trace) => forkOf(trace, passed) ?? []).map(stepText));
    const text = `Nothing answers the ${protocol?.toUpperCase() ?? ''} packets of ${who} from beyond ${listed(where, 3)}, while the target answers ${asked}. Packets of other probes pass ${listed(forks, 3)} too, go on by other routers, get answers of the hops behind, and reach the target: one of several parallel ways is broken, or a filter there drops these packets.`;
    const brief = `the way from ${who} ends at ${where[0]!}`;
    return buildFinding('path_cut', 'warning', probeResults(own), text, brief);
  });
}

/** True if the target answered ordinary echo requests after the trace, and none with its size or DSCP. */
function isCutByChoice({ probeResult: { result } }: Trace): boolean {
  return result.reached !== true && (result.echo?.received ?? 0) === 0 && (result.ordinary?.received ?? 0) > 0;
}

/** Findings: the target answers ordinary echo requests, and no packet with the size or DSCP of the trace. */
function ordinaryAlone(traces: readonly Trace[]): readonly FindingDraft[] {
  return grouped(traces, (trace) => chosenText(trace.probeResult.result)).map((own) => {
    const { protocol = 'icmp' } = own[0]!.probeResult.result;
    const packets = `packets${chosenText(own[0]!.probeResult.result)}`;
    const hops = lastHops(own.filter((trace) => !isUnseen(trace)));
    const beyond = hops === '' ? '' : ` from beyond hop ${hops}`;
    const why = protocol === 'icmp' ? '' : ` or drops ${protocol.toUpperCase()}`;
    const text = `Nothing answers the ${packets} of ${naming(probeResults(own))}${beyond}, and the target answers ordinary echo requests, sent after them: a router, a filter or the target drops such packets${why}, or it limits its answers.`;
    return buildFinding('path_cut', 'warning', probeResults(own), text, `${packets} get no answer`);
  });
}

function cutShort(cut: readonly Trace[]): readonly FindingDraft[] {
  const keyOf = (trace: Trace): string => `${trace.isReached} ${trace.stopReason} ${isUnseen(trace)}`;
  return grouped(cut, keyOf).map((own) => {
    const { isReached, stopReason } = own[0]!;
    const why = whyCut.get(stopReason ?? '') ?? 'it was ended';
    const who = naming(probeResults(own));
    const known = isUnseen(own[0]!)
      ? `no hop of its path from ${who} is known`
      : `its path from ${who} is known up to hop ${lastHops(own)} only`;
    const isUnknown = !isReached && stopReason === 'deadline';
    const silence = isUnknown ? 'Whether the target answers is not known' : 'The target does not answer';
    const target = isReached ? 'The target answers' : silence;
    const text = `${target}, and ${known}: ${why}. What comes after is not known.`;
    return buildFinding('path_cut', isReached || isUnknown ? 'info' : 'warning', probeResults(own), text);
  });
}

/** True if no hop answered. */
function isUnseen(trace: Trace): boolean {
  return lastAnswer(trace) === undefined;
}

/** `4 and 12`: the hops of the last answers of these traces, each once; a long list is cut and ends with a count. */
function lastHops(traces: readonly Trace[]): string {
  const hops = new Set(traces.flatMap((trace) => lastAnswer(trace)?.hop ?? []));
  return listed([...hops].toSorted((a, b) => a - b).map(String));
}

const whyCut: ReadonlyMap<string, string> = new Map([
  ['hop_limit', 'the trace was to go no further (`maxHops`)'],
  ['gap_limit', 'no further hop answered'],
  ['deadline', 'there was no more time'],
]);

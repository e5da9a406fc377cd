import type { LookUpPlace, PathEnd } from '@vantage/contract';

import { buildFinding, type FindingDraft } from '../finding.ts';
import { groupBy, type ProbeResult } from '../probe-result.ts';
import { answersSome } from '../answers-some.ts';
import { answersEchoAlone } from '../partition.ts';
import { asText, listed, naming, shown, unique } from '../words.ts';
import { findBrokenBranches } from './broken-branches.ts';
import { deadWays, findDeadWays } from './flows/dead-ways.ts';
import { findHeaders } from './headers/find-headers.ts';
import { findMtus } from './mtu/find-mtus.ts';
import { findSizeCuts, isCutBySize } from './mtu/size-cut.ts';
import { findOutages, outageOf } from './rounds/outage.ts';
import { findPauses } from './rounds/pause.ts';
import { findPathChanges } from './rounds/path-change.ts';
import { brokenWaysOf } from './multipath/broken-ways.ts';
import { circlesIn, findCirclingFlows } from './flows/circling-flows.ts';
import { findCutFlows } from './flows/cut-flows.ts';
import type { WayNode } from './multipath/ways.ts';
import { findRefusals, refusalOf, type PathRefusal } from './refusals.ts';
import { isSilent, placeKey, stepText, targetIndex, type Step, type Trace, type TraceResult } from './trace.ts';

/**
 * Findings about where paths end, about outages of the target, and about what else single traces show: broken ways,
 * packet sizes, headers, changes of the path.
 *
 * @param unproved results whose silence is no evidence
 */
export function findEnds(
  traces: readonly Trace[],
  unproved: readonly ProbeResult[],
  placeOf: LookUpPlace | undefined,
): readonly FindingDraft[] {
  const isUnproved = ({ probeResult }: Trace): boolean => unproved.includes(probeResult);
  const silent = traces.filter((trace) => endReason(trace) === 'silent');
  const outages = traces.flatMap((trace) => outageOf(trace, traces) ?? []);
  return [
    ...loops(traces),
    ...findOutages(outages),
    ...findPauses(traces),
    ...findRefusals(
      traces,
      (refusal) =>
        endsWayOf(refusal) ||
        outages.some((outage) => outage.trace === refusal.trace && outage.refusal?.where === refusal.where),
    ),
    ...stops(
      silent.filter((trace) => !isUnproved(trace)),
      routersPassed(traces),
      placeOf,
    ),
    ...unheard(silent.filter(isUnproved)),
    ...cuts(traces),
    ...findDeadWays(traces),
    ...findCutFlows(traces),
    ...findCirclingFlows(traces),
    ...findBrokenBranches(traces),
    ...findMtus(traces),
    ...findHeaders(traces),
    ...findPathChanges(traces),
  ];
}

/** True if the router that refused packets ends one of several ways, which the finding `flows_stop` reports. */
function endsWayOf({ trace, ip, answered }: PathRefusal): boolean {
  if (!trace.isReached) return false;
  const refusals = deadWays(trace).flatMap(({ refusal }) => refusal ?? []);
  const isRefused = ({ kind }: WayNode): boolean => kind === 'refused';
  const told = brokenWaysOf(trace.branching, trace.fullTtl).filter(({ last }) => isRefused(last));
  if (ip !== null) return refusals.some(({ from }) => from === ip) || told.some(({ last }) => last.ip === ip);
  // Routers with withheld addresses differ by the hop of the error only.
  const hidden = trace.branching.filter((node) => isRefused(node) && node.ip === null);
  const isToldOfAll = hidden.length > 0 && hidden.every((node) => told.some(({ last }) => last.index === node.index));
  return isToldOfAll || refusals.some((refusal) => refusal === answered?.icmp);
}

/**
 * Routers of the loop, in the order of passage: those of one flow, since the routers of a hop may be in the loops of
 * different flows.
 */
export function circleOf(trace: Trace): readonly Step[] {
  const { steps, probeResult } = trace;
  const { loop } = probeResult.result;
  if (loop === null || loop === undefined) return [];
  const hops = steps.filter(({ hop }) => hop >= loop.start && hop < loop.start + loop.length);
  if (hops.every(({ routers }) => routers.length < 2)) return hops;
  const [circle] = circlesIn(trace);
  const stepOf = (ip: string): Step | undefined => {
    const step = steps.find(({ routers }) => routers.some((router) => router.ip === ip));
    return step && { ...step, routers: step.routers.filter((router) => router.ip === ip) };
  };
  return circle?.flatMap((ip) => stepOf(ip) ?? []) ?? hops;
}

/** The last hop that responded; undefined if none did. */
export function lastAnswer({ steps }: Trace): Step | undefined {
  return steps.findLast((step) => !isSilent(step));
}

export function endReason(trace: Trace): PathEnd['reason'] {
  const { probeResult, isReached, isFinal, stopReason } = trace;
  if (!isFinal) return isReached ? 'reached' : 'pending';
  if (isReached && probeResult.outcome === 'failure') return 'refused';
  if (isReached) return stopReason === undefined || targetIndex(trace) !== undefined ? 'reached' : 'cut';
  if (probeResult.result.loop !== null && probeResult.result.loop !== undefined) return 'loop';
  if (refusalOf(trace) !== undefined) return 'refused';
  if (stopReason === 'deadline') return 'cut';
  if (answersEchoAlone(probeResult.result)) return 'cut';
  // If the last permitted TTL was answered, only the target was probed beyond it.
  const isLimited = stopReason === 'hop_limit' && !isSilent(trace.steps.at(-1)!);
  return isLimited ? 'cut' : 'silent';
}

function loops(traces: readonly Trace[]): readonly FindingDraft[] {
  const looping = traces.filter((trace) => endReason(trace) === 'loop');
  return grouped(looping, (trace) => unique(circleOf(trace).map(placeOrPosition)).join(' ')).map((own) => {
    const circle = circleOf(own[0]!);
    const routers = circle.map(({ hop, routers: [router] }) =>
      router === undefined ? `hop ${hop}` : shown(router.ip),
    );
    const networks = unique(circle.flatMap(({ routers: [router] }) => asText(router?.asn, router?.asName) ?? []));
    const where = networks.length === 0 ? '' : `, in ${listed(networks, 3)}`;
    const text = `Packets of ${naming(probeResults(own))} go round in a circle of ${listed(routers, 6)}${where}: the routers there disagree about the way.`;
    return buildFinding('routing_loop', 'critical', probeResults(own), text, 'packets go round in a circle');
  });
}

function placeOrPosition({ hop, routers: [router] }: Step): string {
  return router?.ip ?? `hop ${hop}`;
}

/** Routers on paths that reach the target. */
function routersPassed(traces: readonly Trace[]): ReadonlySet<string> {
  const alive = traces.flatMap(({ ways }) => ways.filter(({ isReached }) => isReached));
  const ofFlows = alive.flatMap(({ steps }) => steps.flatMap(({ routers }) => routers.map(({ ip }) => ip)));
  const ofSearches = traces.flatMap(({ branching }) =>
    branching.flatMap(({ ip, reaches }) => (reaches ? (ip ?? []) : [])),
  );
  return new Set([...ofFlows, ...ofSearches]);
}

/** Last router shared with paths that reach the target, if this path continues by another router. */
function forkOf({ steps }: Trace, passed: ReadonlySet<string>): Step | undefined {
  const isPassed = ({ routers }: Step): boolean => routers.length > 0 && routers.every(({ ip }) => passed.has(ip));
  const last = steps.findLast((step) => step.routers.length > 0);
  return last === undefined || isPassed(last) ? undefined : steps.findLast(isPassed);
}

function stops(
  silent: readonly Trace[],
  passed: ReadonlySet<string>,
  placeOf: LookUpPlace | undefined,
): readonly FindingDraft[] {
  const keyOf = (trace: Trace): string => {
    const last = lastAnswer(trace);
    return last === undefined ? 'nowhere' : `at ${placeKey(last)}`;
  };
  return grouped(silent, keyOf).map((own) => {
    const who = naming(probeResults(own));
    const last = lastAnswer(own[0]!);
    if (last === undefined) {
      const text = `No hop answered on the way from ${who}, nor did the target: the network of the probe may drop such packets.`;
      return buildFinding('path_stops', 'warning', probeResults(own), text);
    }
    const where = unique(own.map((trace) => stepText(lastAnswer(trace)!)));
    const asn = last.routers[0]?.asn ?? null;
    const isOwnNetwork = own.some(({ target }) => asn !== null && target !== null && placeOf?.(target).asn === asn);
    const note = isOwnNetwork ? ' That is the target’s own network: a filter there may drop what a trace sends.' : '';
    const forks = own.map((trace) => forkOf(trace, passed));
    const fork = forks.every((one) => one !== undefined) ? forks[0] : undefined;
    const others =
      fork === undefined
        ? ''
        : ` Others pass ${stepText(fork)} too and reach the target by other routers: one of several parallel paths may be broken.`;
    const text = `Nothing answers beyond ${listed(where, 3)}, on the way from ${who}.${note}${others}`;
    return buildFinding('path_stops', 'warning', probeResults(own), text, `the path ends at ${stepText(last)}`);
  });
}

/**
 * Finding: probes get no answer although the target answers some packets of others, so that their silence may be chance
 * or a limit.
 */
function unheard(traces: readonly Trace[]): readonly FindingDraft[] {
  return grouped(traces, ({ fullTtl }) => String(fullTtl?.answersOthers === true)).map((own) => {
    const lengths = listed(unique(own.map((trace) => String(lastAnswer(trace)?.hop ?? 0))));
    const why =
      own[0]!.fullTtl?.answersOthers === true
        ? 'The target answered another trace of the probe meanwhile: it may limit its answers, and the silence proves no more.'
        : 'The target answers some packets only of the probes that reach it: packets are lost, or it limits its answers, and that one hears none proves no more.';
    const text = `Nothing came back to ${naming(probeResults(own))} from beyond hop ${lengths}. ${why}`;
    return buildFinding('path_cut', 'info', probeResults(own), text);
  });
}

/** Findings about traces that ended before their path: no evidence about the last router seen. */
function cuts(traces: readonly Trace[]): readonly FindingDraft[] {
  const cut = traces.filter((trace) => endReason(trace) === 'cut');
  const byEcho = cut.filter((trace) => answersEchoAlone(trace.probeResult.result) && !isCutBySize(trace));
  const others = cut.filter((trace) => !byEcho.includes(trace) && !isCutBySize(trace));
  const isShared = ({ target }: Trace): boolean =>
    answersSome(probeResults(traces.filter((trace) => trace.target === target)));
  return [
    ...findSizeCuts(cut),
    ...echoAlone(
      byEcho.filter((trace) => !isShared(trace)),
      'warning',
    ),
    ...echoAlone(byEcho.filter(isShared), 'info'),
    ...cutShort(others),
  ];
}

/**
 * Finding: the target answers only the echo requests that accompany a trace. A filter on the path and a silent target
 * are indistinguishable from outside.
 *
 * @param severity info if the target leaves the packets of other probes unanswered too: it limits its answers, or loses
 * them
 */
function echoAlone(traces: readonly Trace[], severity: 'warning' | 'info'): readonly FindingDraft[] {
  return grouped(traces, ({ probeResult }) => probeResult.result.protocol ?? '').map((own) => {
    const { protocol } = own[0]!.probeResult.result;
    const who = naming(probeResults(own));
    const lengths = listed(unique(own.map((trace) => String(lastAnswer(trace)?.hop ?? 0))));
    const name = protocol?.toUpperCase() ?? '';
    const [asked, why, brief] =
      protocol === 'icmp'
        ? ['other echo requests', '', `${who} ${own.length === 1 ? 'gets' : 'get'} answers to some packets only`]
        : [
            'echo requests',
            'a filter on the way or the target itself drops those, or ',
            `it answers echo requests only of ${who}, not ${name}`,
          ];
    const text = `The target answers ${asked} of ${who}, and no ${name} packet of the trace: ${why}it limits its answers, or one of several ways to it is broken. The path is known up to hop ${lengths} only.`;
    return buildFinding('path_cut', severity, probeResults(own), text, brief);
  });
}

function cutShort(cut: readonly Trace[]): readonly FindingDraft[] {
  return grouped(cut, ({ isReached, stopReason }) => `${isReached} ${stopReason}`).map((own) => {
    const { isReached, stopReason } = own[0]!;
    const why = whyCut.get(stopReason ?? '') ?? 'it was ended';
    const shown = listed(unique(own.map(({ steps }) => String(steps.length))));
    const isUnknown = !isReached && stopReason === 'deadline';
    const silence = isUnknown ? 'Whether the target answers is not known' : 'The target does not answer';
    const target = isReached ? 'The target answers' : silence;
    const text = `${target}, and its path from ${naming(probeResults(own))} is known up to hop ${shown} only: ${why}. What comes after is not known.`;
    return buildFinding('path_cut', isReached || isUnknown ? 'info' : 'warning', probeResults(own), text);
  });
}

const whyCut: ReadonlyMap<string, string> = new Map([
  ['hop_limit', 'the trace was to go no further (`maxHops`)'],
  ['gap_limit', 'no later hop answered'],
  ['deadline', 'there was no more time'],
]);

export function probeResults(traces: readonly Trace[]): readonly TraceResult[] {
  return traces.map(({ probeResult }) => probeResult);
}

export function grouped(traces: readonly Trace[], keyOf: (trace: Trace) => string): readonly (readonly Trace[])[] {
  const byReport = new Map(traces.map((trace) => [trace.probeResult, trace]));
  return groupBy(probeResults(traces), (probeResult) => keyOf(byReport.get(probeResult)!)).map(([, own]) =>
    own.map((probeResult) => byReport.get(probeResult)!),
  );
}

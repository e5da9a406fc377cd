import type { PathEnd } from '@vantage/contract';

import { groupBy } from '../probe-result.ts';
import { answersEchoAlone } from '../partition.ts';
import { circlesIn } from './flows/circling-flows.ts';
import { refusalOf } from './refusals/refusals.ts';
import { isSilent, targetIndex, type Step, type Trace, type TraceResult } from './trace.ts';

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
  // Beyond the last permitted TTL only the target was probed: if a router answered at that TTL, the path may continue.
  const isLimited = stopReason === 'hop_limit' && !isSilent(trace.steps.at(-1)!);
  return isLimited ? 'cut' : 'silent';
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

export function probeResults(traces: readonly Trace[]): readonly TraceResult[] {
  return traces.map(({ probeResult }) => probeResult);
}

export function grouped(traces: readonly Trace[], keyOf: (trace: Trace) => string): readonly (readonly Trace[])[] {
  const byReport = new Map(traces.map((trace) => [trace.probeResult, trace]));
  return groupBy(probeResults(traces), (probeResult) => keyOf(byReport.get(probeResult)!)).map(([, own]) =>
    own.map((probeResult) => byReport.get(probeResult)!),
  );
}

import { found, type Found } from '../finding.ts';
import { groupBy } from '../report.ts';
import { countOf, listed, unique } from '../words.ts';
import { isSilent, stepText, targetIndex, type Step, type Trace, type Way } from './trace.ts';

/**
 * The flows that end on the way while others of the same trace reach the target. One that was last seen at a router by
 * which others do reach it does not count, nor, over UDP, one that was last seen right before the target: many a target
 * answers only some packets, and limits the errors that answer datagrams.
 */
export function deadWays(trace: Trace): readonly Way[] {
  const { ways, isReached, isFinal, report, steps } = trace;
  if (!isReached || !isFinal) return [];
  const before = report.result.protocol === 'udp' ? steps[(targetIndex(trace) ?? 0) - 1]?.hop : undefined;
  const alive = ways.filter((way) => way.isReached);
  const passed = new Set(alive.flatMap(({ steps }) => steps.flatMap(({ routers }) => routers.map(({ ip }) => ip))));
  return ways.filter((way) => {
    const last = lastOf(way);
    return (
      way.isEnded &&
      last !== undefined &&
      last.hop !== before &&
      last.routers.length > 0 &&
      last.routers.every(({ ip }) => !passed.has(ip))
    );
  });
}

/** A part of several parallel paths that is broken. */
export function findDeadWays(traces: readonly Trace[]): readonly Found[] {
  const broken = traces.flatMap((trace) => deadWays(trace).map((way) => ({ trace, last: lastOf(way)! })));
  const byPlace = Map.groupBy(broken, ({ last }) => last.routers[0]!.ip);
  return [...byPlace.values()].map((own) => {
    const reports = groupBy(
      own.map(({ trace }) => trace.report),
      () => 'all',
    )[0]![1];
    const shares = [...Map.groupBy(own, ({ trace }) => trace)].map(
      ([{ report, ways }, dead]) => `${dead.length} of ${countOf(ways.length, 'flow')} of ${report.probe}`,
    );
    const where = stepText(own[0]!.last);
    const text = `Nothing comes back from beyond ${where} for ${listed(unique(shares), 3)}; the other flows go by other routers and reach the target. One of several parallel paths is broken.`;
    return found('flows_stop', 'warning', reports, text, `one of several parallel paths ends at ${where}`);
  });
}

function lastOf({ steps }: Way): Step | undefined {
  return steps.findLast((step) => !isSilent(step));
}

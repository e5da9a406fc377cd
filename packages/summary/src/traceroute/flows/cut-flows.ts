import { buildFinding, type FindingDraft } from '../../finding.ts';
import { groupBy } from '../../probe-result.ts';
import { countOf, listed } from '../../words.ts';
import { deadFlows } from './dead-flows.ts';
import { stepText, type Step, type Trace, type Route } from '../trace.ts';
import { placesIn } from './samples.ts';
import { areSurelySilent, farthestOf, lastOf, silentFlows } from './silent-flows.ts';

/** Flows of a trace that are silent beyond the same last hop, while others reach the target. */
interface CutFlows {
  readonly trace: Trace;
  readonly flows: readonly Route[];
  readonly last: Step;
}

/**
 * Flows that are surely silent (`areSurelySilent`), by the last router on their path, without those of `deadFlows`. A
 * balancer that appears at no hop (of a bundle of links, or of several hosts behind one address) or a filter by ports
 * may explain them.
 */
function cutFlowsOf(trace: Trace): readonly CutFlows[] {
  if (!areSurelySilent(trace)) return [];
  const dead = deadFlows(trace);
  const silent = silentFlows(trace).flatMap((route) => {
    const farthest = farthestOf(trace, route);
    const last = lastOf(farthest);
    return last === undefined || dead.includes(farthest) || dead.includes(route) ? [] : [{ route, last }];
  });
  const byEnd = Map.groupBy(silent, ({ last }) => placesIn(last).toSorted().join(' '));
  return [...byEnd.values()].map((own) => ({ trace, flows: own.map(({ route }) => route), last: own[0]!.last }));
}

/** Findings: flows of a trace do not reach the target, and others do. */
export function findCutFlows(traces: readonly Trace[]): readonly FindingDraft[] {
  const cut = traces.flatMap(cutFlowsOf);
  return [...Map.groupBy(cut, ({ last }) => last.routers[0]?.ip ?? `hop ${last.hop}`).values()].map((own) => {
    const probeResults = groupBy(
      own.map(({ trace }) => trace.probeResult),
      () => 'all',
    )[0]![1];
    const shares = own.map(
      ({ trace: { probeResult, routes }, flows }) =>
        `${flows.length} of ${countOf(routes.length, 'flow')} of ${probeResult.probe}`,
    );
    const verb = own.length === 1 && own[0]!.flows.length === 1 ? 'does' : 'do';
    const where = stepText(own[0]!.last);
    const filter = own.every(({ trace }) => trace.probeResult.result.protocol === 'icmp')
      ? 'a filter drops them'
      : 'a filter drops them by their ports';
    const [passed, broken] = own.every(isPassedByOthers)
      ? [', which the other flows pass too', 'One of several ways behind it']
      : ['', 'One of several ways'];
    const text = `${listed(shares, 3)} ${verb} not reach the target: nothing comes back from beyond ${where}${passed}. ${broken} is broken, or ${filter}.`;
    return buildFinding('flows_stop', 'warning', probeResults, text, `some flows end behind ${where}`);
  });
}

/** True if a router of the last hop seen answered flows that reach the target, too. */
function isPassedByOthers({ trace, last }: CutFlows): boolean {
  const places = new Set(placesIn(last));
  const alive = trace.routes.filter(({ isReached }) => isReached).flatMap(({ steps }) => steps);
  return alive.flatMap(placesIn).some((place) => places.has(place));
}

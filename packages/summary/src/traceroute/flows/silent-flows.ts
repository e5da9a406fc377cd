import { thresholds } from '../../thresholds.ts';
import { chanceOfMore, choices } from '../../chance.ts';
import { isSilent, targetIndex, type Step, type Trace, type Route } from '../trace.ts';
import { circleOfFlow } from './circling-flows.ts';
import { placesIn, sampleOf } from './samples.ts';

/** Flows that end in silence, neither refused nor in a loop, in a trace whose other flows reach the target. */
export function silentFlows({ routes, isReached, isFinal }: Trace): readonly Route[] {
  if (!isReached || !isFinal || !routes.some((route) => route.isReached)) return [];
  return routes.filter((route) => route.isEnded && route.refusal === null && circleOfFlow(route).length === 0);
}

/**
 * True if neither chance nor a rate limit of the target explains that it answered none of the silent flows, whatever
 * the routers answered.
 */
export function areSurelySilent(trace: Trace): boolean {
  const flows = silentFlows(trace);
  return flows.length > 0 && !isByChance(trace, flows) && !mayBeLimited(trace);
}

/**
 * True if chance may explain that the target answered no packet of this many flows, given its answers to the others;
 * also if it answered a full-TTL packet, if too few of these were sent, or if it left too many packets of the others
 * unanswered. All full-TTL packets are attributed to the silent flows.
 */
function isByChance(trace: Trace, flows: readonly Route[]): boolean {
  const { routes, fullTtl } = trace;
  const full = fullTtl?.rtts ?? [];
  if (full.length < thresholds.cutFlows.full * flows.length || full.some((rtt) => rtt !== null)) return true;
  const lost = sampleOf(atTarget(trace, flows)).lost + full.length;
  const others = sampleOf(atTarget(trace, reaching(routes)));
  // Rate limits may leave all packets of a flow unanswered: then losses are not independent, which `choice` assumes.
  if (others.lost > others.sent * thresholds.sharedLoss) return true;
  const choice = Math.exp(choices(routes.length, flows.length));
  return choice * chanceOfMore({ sent: lost, lost }, others) > thresholds.beginByChance;
}

/**
 * True if a rate limit of the target may explain the unanswered packets: a target that has reached its limit answers
 * none of the last packets. False if it kept answering other flows after the first unanswered packet, up to the end.
 */
function mayBeLimited(trace: Trace): boolean {
  const { answeredLater, lostLast } = thresholds.cutFlows;
  const hop = trace.steps[targetIndex(trace) ?? -1]?.hop;
  const rtts = trace.probeResult.result.hops?.find((one) => one.hop === hop)?.rtts ?? [];
  // The first of the unanswered packets may be those of flows that reached the target.
  const { lost } = sampleOf(atTarget(trace, reaching(trace.routes)));
  const first = rtts.flatMap((rtt, at) => (rtt === null ? [at] : []))[lost] ?? rtts.length;
  const later = rtts.slice(first).filter((rtt) => rtt !== null).length;
  const last = rtts.findLastIndex((rtt) => rtt !== null);
  return later < answeredLater || rtts.length - 1 - last > lostLast;
}

function reaching(routes: readonly Route[]): readonly Route[] {
  return routes.filter(({ isReached }) => isReached);
}

function atTarget(trace: Trace, routes: readonly Route[]): readonly Step[] {
  const hop = trace.steps[targetIndex(trace) ?? -1]?.hop;
  return routes.flatMap(({ steps }) => steps.filter((step) => step.hop === hop));
}

/**
 * The silent flow with the farthest answer among those that also passed the last router of this flow; the flow itself
 * if there is none. Also the flow itself, unless the next hop left packets of a flow with farther answers unanswered:
 * only then may routers there rate-limit their answers, so that this flow may go on like the others.
 */
export function farthestOf(trace: Trace, route: Route): Route {
  const last = lastOf(route);
  const hop = last?.hop ?? 0;
  const others = trace.routes.filter(({ steps }) => steps.some((step) => step.hop > hop && !isSilent(step)));
  if (!others.some(({ steps }) => steps.some((step) => step.hop === hop + 1 && step.lost > 0))) return route;
  const ends = last === undefined ? undefined : new Set(placesIn(last));
  const farther = silentFlows(trace).filter(
    ({ steps }) =>
      steps.some((step) => step.hop > hop && !isSilent(step)) &&
      (ends === undefined || steps.some((step) => step.hop === hop && placesIn(step).some((one) => ends.has(one)))),
  );
  return farther.toSorted((a, b) => lastOf(b)!.hop - lastOf(a)!.hop)[0] ?? route;
}

export function lastOf({ steps }: Route): Step | undefined {
  return steps.findLast((step) => !isSilent(step));
}

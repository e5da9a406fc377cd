import { buildFinding, type FindingDraft } from '../../finding.ts';
import { groupBy } from '../../probe-result.ts';
import { thresholds } from '../../thresholds.ts';
import { chanceOfMore } from '../../chance.ts';
import { placesIn, sampleOf } from './samples.ts';
import { areSurelySilent, farthestOf, lastOf, silentFlows } from './silent-flows.ts';
import { isLimitLikely, weightOfLimits } from '../loss/limits.ts';
import { meaningOf } from '../steps/refusal-marks.ts';
import { HIDDEN_ROUTER, refuserText } from '../refusals/refusals.ts';
import { countOf, listed, unique } from '../../words.ts';
import { isSilent, stepText, targetIndex, type Step, type Trace, type Route } from '../trace.ts';

/**
 * Flows that end early while others of the trace reach the target, in silence or refused by a router. Excludes a flow
 * whose last router forwards others to the target, and a silent one with too few packets to exclude chance. Losses at
 * the target’s own hop do not count over UDP, where a target may rate-limit its ICMP errors, nor if its answers look
 * limited.
 */
export function deadFlows(trace: Trace): readonly Route[] {
  const { routes, isReached, isFinal } = trace;
  if (!isReached || !isFinal) return [];
  const alive = routes.filter((route) => route.isReached);
  if (alive.length === 0) return [];
  const passed = placesBeforeTarget(routes);
  const ended = routes.filter((route) => {
    const last = lastOf(route);
    if (!route.isEnded || last === undefined) return false;
    // If the address of the router is withheld, the hop before may have sent the error.
    const before =
      last.isPrivate && route.refusal !== null ? route.steps.filter(({ hop }) => hop === last.hop - 1) : [];
    const ends = [last, ...before.filter(({ isPrivate }) => isPrivate)].flatMap(placesIn);
    return ends.length > 0 && ends.every((place) => !passed.has(place));
  });
  const silent = silentFlows(trace).filter((route) => ended.includes(route) && farthestOf(trace, route) === route);
  // Sorted, because the order of a step's routers is that of one flow's answers.
  const byEnd = Map.groupBy(silent, (route) => placesIn(lastOf(route)!).toSorted().join(' '));
  const proved = new Set([...byEnd.values()].flatMap((own) => provedOf(trace, own)));
  return ended.filter((route) => route.refusal !== null || proved.has(route));
}

/**
 * Routers (`placesIn`) that lead to the target: those of the flows that reach it, and of each flow whose last router is
 * one of them.
 */
function placesBeforeTarget(routes: readonly Route[]): ReadonlySet<string> {
  const found = new Set<string>();
  let open = [...routes];
  for (;;) {
    const leading = open.filter(
      (route) => route.isReached || (route.refusal === null && lastPlaces(route).some((place) => found.has(place))),
    );
    if (leading.length === 0) return found;
    for (const { steps } of leading) for (const place of steps.flatMap(placesIn)) found.add(place);
    open = open.filter((route) => !leading.includes(route));
  }
}

function lastPlaces(route: Route): readonly string[] {
  const last = lastOf(route);
  return last === undefined ? [] : placesIn(last);
}

/**
 * Flows that end at the same routers and whose silence chance does not explain: all together, with a correction for the
 * number of routers at that hop, or else each by its own packets. Returns all if the flows are surely silent and flows
 * that reach the target were seen at this hop.
 */
function provedOf(trace: Trace, routes: readonly Route[]): readonly Route[] {
  const { hop } = lastOf(routes[0]!)!;
  const atHop = trace.routes.flatMap(({ steps }) => steps.filter((step) => step.hop === hop).flatMap(placesIn));
  // If no flow that reaches the target was seen at this hop, the router may lead them there and rate-limit its answers.
  const isAside = trace.routes.some(
    ({ isReached, steps }) => isReached && steps.some((step) => step.hop === hop && !isSilent(step)),
  );
  if (isAside && areSurelySilent(trace)) return routes;
  const isTogether = chanceOf(trace, routes, hop) * new Set(atHop).size <= thresholds.beginByChance;
  return isTogether ? routes : routes.filter((route) => chanceOf(trace, [route], hop) <= thresholds.beginByChance);
}

/**
 * Probability that these flows lose all packets beyond the hop by chance, given the loss of the flows that reach the
 * target; 1 if a packet is answered or none was sent there.
 */
function chanceOf(trace: Trace, own: readonly Route[], hop: number): number {
  const { routes, steps, probeResult } = trace;
  const last = targetIndex(trace);
  const end = last === undefined ? Infinity : steps[last]!.hop;
  const isLimited =
    last !== undefined && (probeResult.result.protocol === 'udp' || weightOfLimits([{ trace, routers: [] }]) > 0);
  const alive = routes.filter(({ isReached }) => isReached).flatMap((route) => route.steps);
  // Leaves out hops that answer a burst and then no more: they answer the first flows, whichever path these take.
  const answering = alive.filter(
    (step) =>
      !isSilent(step) && step.hop > hop && step.hop < (isLimited ? end : end + 1) && !isLimitLikely(trace, step),
  );
  const isAsked = (step: Step): boolean => answering.some((other) => other.hop === step.hop);
  const { sent, lost } = sampleOf(own.flatMap((route) => route.steps).filter(isAsked));
  if (sent === 0 || sent > lost) return 1;
  const ofAlive = sampleOf(alive.filter(isAsked));
  const chance = chanceOfMore({ sent, lost }, ofAlive);
  if (ofAlive.lost <= ofAlive.sent * thresholds.sharedLoss) return chance;
  // Rate limits may leave all packets of a flow unanswered: each flow counts once, because its losses are not
  // independent.
  const others = routes.filter((route) => !own.includes(route));
  const losing = others.filter((route) => {
    const sample = sampleOf(route.steps.filter(isAsked));
    return sample.lost * 2 >= sample.sent;
  });
  return Math.max(
    chance,
    chanceOfMore({ sent: own.length, lost: own.length }, { sent: others.length, lost: losing.length }),
  );
}

/** Findings: one of several parallel paths is broken. */
export function findDeadFlows(traces: readonly Trace[]): readonly FindingDraft[] {
  const broken = traces.flatMap((trace) =>
    deadFlows(trace).map((route) => ({ trace, route, last: lastOf(route)!, fork: forkText(trace, route) })),
  );
  const byPlace = Map.groupBy(broken, ({ route, last, fork }) =>
    [last.routers[0]?.ip ?? `${last.hop} ${fork}`, route.refusal?.mark ?? ''].join(' '),
  );
  return [...byPlace.values()].map((own) => {
    const probeResults = groupBy(
      own.map(({ trace }) => trace.probeResult),
      () => 'all',
    )[0]![1];
    const shares = [...Map.groupBy(own, ({ trace }) => trace)].map(
      ([{ probeResult, routes }, dead]) =>
        `${dead.length} of ${countOf(routes.length, 'flow')} of ${probeResult.probe}`,
    );
    const [{ route, last }] = own as [(typeof own)[number]];
    const where = route.refusal === null ? stepText(last) : refuserOf(route, last);
    const forks = unique(own.map(({ fork }) => fork));
    const routes = forks.length === 1 && forks[0] !== '' ? forks[0]! : 'several parallel paths';
    const flows = listed(unique(shares), 3);
    const end =
      route.refusal === null
        ? `Nothing comes back from beyond ${where} for ${flows}`
        : `A router said that ${meaningOf(route.refusal.mark)} to the packets of ${flows}: ${where}`;
    const text = `${end}; ${othersText(own)}. One of ${routes} is broken.`;
    return buildFinding('flows_stop', 'warning', probeResults, text, `one of ${routes} ends at ${where}`);
  });
}

/**
 * Clause about the other flows: those that reach the target, and those that end on the same path but got answers from
 * fewer hops, because routers rate-limit their answers.
 */
function othersText(found: readonly { readonly trace: Trace; readonly route: Route }[]): string {
  const dead = new Set(found.map(({ route }) => route));
  const others = [...new Set(found.map(({ trace }) => trace))].flatMap((trace) =>
    trace.routes.filter((route) => !dead.has(route) && !route.isReached).map((route) => ({ trace, route })),
  );
  if (others.length === 0) return 'the other flows go by other routers and reach the target';
  const less = others.filter(({ trace, route }) => areSurelySilent(trace) && dead.has(farthestOf(trace, route)));
  const [verb, get] = less.length === 1 ? ['does', 'gets'] : ['do', 'get'];
  const more = `${less.length} more ${verb} not reach the target and ${get} answers of fewer hops, since routers limit theirs; `;
  return `${less.length === 0 ? '' : more}those that reach the target get answers of other routers`;
}

/** A router with a withheld address may have refused the packets at its own hop or at the next one. */
function refuserOf({ steps }: Route, last: Step): string {
  return last.isPrivate ? HIDDEN_ROUTER : refuserText(steps, last);
}

/**
 * `the ways behind hop 3, 198.51.100.7`: the last router of the flow that forwards others to the target; empty without
 * one.
 */
function forkText(trace: Trace, { steps }: Route): string {
  const alive = trace.routes.filter(({ isReached }) => isReached).flatMap((route) => route.steps);
  const passed = new Set(alive.flatMap(({ routers }) => routers.map(({ ip }) => ip)));
  const fork = steps.findLast(({ routers }) => routers.length === 1 && passed.has(routers[0]!.ip));
  return fork === undefined ? '' : `the ways behind ${stepText(fork)}`;
}

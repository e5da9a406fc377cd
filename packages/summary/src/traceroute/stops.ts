import type { LookUpPlace } from '@vantage/contract';

import { isUnique } from '../ends-before-target.ts';
import { buildFinding, type FindingDraft } from '../finding.ts';
import { listed, naming } from '../words.ts';
import { grouped, lastAnswer, probeResults } from './end-reason.ts';
import { chosenNote } from './steps/chosen-packets.ts';
import { joinedPlaces } from './steps/places.ts';
import { placeKey, stepText, type Step, type Trace } from './trace.ts';

/** Routers on paths that reach the target. */
export function routersPassed(traces: readonly Trace[]): ReadonlySet<string> {
  const alive = traces.flatMap(({ routes }) => routes.filter(({ isReached }) => isReached));
  const ofFlows = alive.flatMap(({ steps }) => steps.flatMap(({ routers }) => routers.map(({ ip }) => ip)));
  const ofSearches = traces.flatMap(({ branching }) =>
    branching.flatMap(({ ip, reaches }) => (reaches ? (ip ?? []) : [])),
  );
  return new Set([...ofFlows, ...ofSearches]);
}

/**
 * Last hop shared with paths that reach the target; undefined if no later router of this path is known, or none shared.
 * A local address does not prove a common hop.
 */
export function forkOf({ steps, target }: Trace, passed: ReadonlySet<string>): Step | undefined {
  const isPassed = ({ routers }: Step): boolean => routers.length > 0 && routers.every(({ ip }) => passed.has(ip));
  const isShared = (step: Step): boolean => isPassed(step) && step.routers.every(({ ip }) => isUnique(ip, target));
  const last = steps.findLast((step) => step.routers.length > 0);
  return last === undefined || isPassed(last) ? undefined : steps.findLast(isShared);
}

export function stops(
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
    const chosen = chosenNote(own[0]!.probeResult.result);
    if (last === undefined)
      return buildFinding('path_stops', 'warning', probeResults(own), `${nothingText(own)}${chosen}`);
    const where = joinedPlaces(own.map((trace) => stepText(lastAnswer(trace)!)));
    const asn = last.routers[0]?.asn ?? null;
    const isOwnNetwork = own.some(({ target }) => asn !== null && target !== null && placeOf?.(target).asn === asn);
    const note = isOwnNetwork ? ' That is the target’s own network: a filter there may drop what a trace sends.' : '';
    const forks = own.map((trace) => forkOf(trace, passed));
    const fork = forks.every((one) => one !== undefined) ? forks[0] : undefined;
    const others =
      fork === undefined
        ? ''
        : ` Others pass ${stepText(fork)} too and reach the target by other routers: one of several parallel paths may be broken.`;
    const text = `Nothing answers beyond ${listed(where, 3)}, on the way from ${who}.${note}${others}${chosen}`;
    return buildFinding('path_stops', 'warning', probeResults(own), text, `the path ends at ${stepText(last)}`);
  });
}

/**
 * Sentence for traces without any answer: they do not show where packets end, because silent routers may forward them.
 */
function nothingText(own: readonly Trace[]): string {
  const who = naming(probeResults(own));
  const first = Math.min(...own.map(({ steps }) => steps[0]?.hop ?? 1));
  const [asked, where] =
    first === 1
      ? ['No hop', 'the packets are dropped near the probe, or farther away, behind routers that do not answer']
      : [`No hop from hop ${first} on`, 'the hops before were not asked, and where the packets end is not known'];
  return `${asked} answered on the way from ${who}, nor did the target: ${where}.`;
}

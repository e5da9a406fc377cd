import { chanceOfMore } from '../../chance.ts';
import { isSilent, type Step, type Trace, type Route } from '../../traceroute/trace.ts';

/** One flow at one hop: the routers that answered it, the most frequent first; undefined if that is unknown. */
type Seen = readonly string[] | undefined;

/** Stands for the routers of a flow that reached the target at an earlier hop. */
const BEYOND: readonly string[] = ['beyond the target'];

/**
 * Maximum number of routers at a hop, in both traces together, for which the routers of one trace are also tested as a
 * set.
 */
const MOST_KINDS = 24;

/**
 * Hops at which the routers of two traces differ by more than chance, if the flows of both were distributed
 * independently over the same next hops. A flow whose packets a hop left unanswered counts for the hypothesis that
 * nothing changed.
 *
 * @param level significance level over all hops
 */
export function changedHops(a: Trace, b: Trace, level: number): readonly number[] {
  const last = Math.max(...[a, b].flatMap(({ steps }) => steps.map(({ hop }) => hop)));
  const hops = Array.from({ length: last }, (_, index) => index + 1);
  const tested = hops.flatMap((hop) => {
    const [ofA, ofB] = [a, b].map((trace) => trace.routes.map((route) => seenAt(route, hop, trace.target)));
    return [...chancesOf(ofA!, ofB!), ...chancesOf(ofB!, ofA!)].map((chance) => ({ hop, chance }));
  });
  return [...new Set(tested.filter(({ chance }) => chance * tested.length <= level).map(({ hop }) => hop))];
}

function seenAt({ steps, isReached }: Route, hop: number, target: string | null): Seen {
  const end = isReached ? targetHopOf(steps, target) : undefined;
  if (end !== undefined && hop > end) return BEYOND;
  const step = steps.find((one) => one.hop === hop);
  return step === undefined || isSilent(step) || step.routers.length === 0
    ? undefined
    : step.routers.map(({ ip }) => ip);
}

/**
 * Probabilities that routers have at least as many flows in `more`, and at most as many in `less`, as observed: for
 * each router of `more`, and for all of them together. Multiplied by the number of sets that could have been chosen.
 */
function chancesOf(more: readonly Seen[], less: readonly Seen[]): readonly number[] {
  const kinds = new Set(more.flatMap((seen) => seen ?? []));
  const all = new Set([...kinds, ...less.flatMap((seen) => seen ?? [])]);
  const single = [...kinds].map((kind) => all.size * chanceOfSet(new Set([kind]), more, less));
  // Correction for multiple comparisons: the set was chosen after the observation, among all subsets.
  const together = all.size > MOST_KINDS || kinds.size < 2 ? [] : [2 ** all.size * chanceOfSet(kinds, more, less)];
  return [...single, ...together];
}

function chanceOfSet(kinds: ReadonlySet<string>, more: readonly Seen[], less: readonly Seen[]): number {
  const least = more.filter((seen) => seen !== undefined && kinds.has(seen[0]!)).length;
  const most = less.filter((seen) => seen === undefined || seen.some((kind) => kinds.has(kind))).length;
  return chanceOfMore({ sent: more.length, lost: least }, { sent: less.length, lost: most });
}

/** The first hop at which the target answered; undefined if it did at none. */
export function targetHopOf(steps: readonly Step[], target: string | null): number | undefined {
  return steps.find(({ routers }) => routers.some(({ ip }) => ip === target))?.hop;
}

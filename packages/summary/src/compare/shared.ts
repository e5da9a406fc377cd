import { differenceSubjects, type Difference, type SharedDifference } from '@vantage/contract';

import { byText } from '../probe-result.ts';
import { listed, unique } from '../words.ts';
import { LOSS_OR_LIMIT, overFamily, withoutSamples, type DifferenceDraft } from './difference.ts';
import { isBeyondChance, isSharedSilence } from './noise.ts';

const order = Object.keys(differenceSubjects);

/** Limit of probes whose amounts are listed in one text. */
const NAMED = 3;

const MOST_SHARED = 1_024;

/**
 * The differences of the check and of its probes, equal ones of several probes combined: certain ones first, then in
 * the order of `differenceSubjects`, then by number of probes. Those beyond `MOST_SHARED` are left out.
 */
export function sharedDifferences(
  ofCheck: readonly Difference[],
  probes: ReadonlyMap<string, { readonly differences: readonly DifferenceDraft[] }>,
): readonly SharedDifference[] {
  const all = [...probes].flatMap(([probe, { differences }]) =>
    differences.map((difference) => ({ probe, difference })),
  );
  const groups = Map.groupBy(all, ({ difference }) => keyOf(difference));
  const shared = [...groups.values()].map((own): SharedDifference => {
    const { subject, name, family } = own[0]!.difference;
    const certain = isCertain(own, comparedOf(own[0]!.difference, probes.size));
    const { text } = overFamily({ family, text: textOf(own, certain) });
    const over = family === undefined ? {} : { family };
    return { subject, name, ...over, certain, text, probes: own.map(({ probe }) => probe) };
  });
  return [
    ...ofCheck.map(({ subject, name, certain, text }) => ({ subject, name, certain, text, probes: [] })),
    ...shared,
  ]
    .toSorted(
      (a, b) =>
        Number(b.certain) - Number(a.certain) ||
        order.indexOf(a.subject) - order.indexOf(b.subject) ||
        b.probes.length - a.probes.length ||
        byText(a.text, b.text),
    )
    .slice(0, MOST_SHARED);
}

/** Key of equal differences. Amounts differ between probes, so that only their direction has to be equal. */
function keyOf({ subject, name, family, certain, text, amounts }: Difference): string {
  return JSON.stringify([
    subject,
    name,
    family,
    ...(amounts === undefined ? [certain, text] : [amounts.b > amounts.a]),
  ]);
}

/** The differences of each probe without tentative ones that too few probes agree on. */
export function withoutNoise<D extends { readonly differences: readonly DifferenceDraft[] }>(
  probes: ReadonlyMap<string, D>,
): ReadonlyMap<string, D> {
  const all = [...probes].flatMap(([probe, { differences }]) =>
    differences.map((difference) => ({ probe, difference })),
  );
  const groups = Map.groupBy(all, ({ difference }) => keyOf(difference));
  const isNoise = (difference: DifferenceDraft): boolean =>
    difference.isTentative === true && !isCertain(groups.get(keyOf(difference))!, comparedOf(difference, probes.size));
  return new Map(
    [...probes].map(([probe, draft]) => [
      probe,
      { ...draft, differences: draft.differences.filter((difference) => !isNoise(difference)) },
    ]),
  );
}

/** Number of comparisons: two for each probe if the difference is over one of two families. */
function comparedOf({ family }: Difference, probes: number): number {
  return family === undefined ? probes : 2 * probes;
}

interface Own {
  readonly probe: string;
  readonly difference: DifferenceDraft;
}

/** True if the difference is certain at one probe, or if more probes agree than chance explains. */
function isCertain(own: readonly Own[], compared: number): boolean {
  if (own.some(({ difference }) => difference.certain)) return true;
  const samples = own.flatMap(({ difference }) => (difference.samples === undefined ? [] : [difference.samples]));
  if (samples.length === own.length) return isSharedSilence(samples, compared);
  const chances = own.flatMap(({ difference }) => difference.chance ?? []);
  return chances.length > 0 && isBeyondChance(chances.length, compared, Math.max(...chances));
}

function textOf(own: readonly Own[], isCertainOfAll: boolean): string {
  const [{ difference }] = own as readonly [Own];
  if (difference.amounts === undefined) return isCertainOfAll ? withoutSamples(difference.text) : difference.text;
  if (own.length === 1) return difference.text;
  const isMore = difference.amounts.b > difference.amounts.a;
  const isLoss = difference.subject === 'loss';
  const what = isLoss ? `${isMore ? 'more' : 'fewer'} unanswered` : timeText(difference, isMore);
  const values = own.map(({ probe, difference: { a, b } }) => `${probe} ${a[0]} → ${b[0]}`);
  const why = own.some((one) => one.difference.text.includes(LOSS_OR_LIMIT)) ? LOSS_OR_LIMIT : '';
  return `${what}: ${listed(values, NAMED)}${why}${isCertainOfAll ? '' : `, ${doubtOf(own)}`}`;
}

/** The reason for doubt, which the texts have at their end; a general one if they differ. */
function doubtOf(own: readonly Own[]): string {
  const reasons = unique(own.map(({ difference }) => difference.text.split(', ').at(-1)!));
  if (reasons.length === 1) return reasons[0]!;
  return reasons.every((reason) => /^measured (?:once|\d)/.test(reason))
    ? 'few measurements each'
    : 'unsure for different reasons';
}

/** `round trip longer`, from the text of one probe. */
function timeText({ text, a }: Difference, isMore: boolean): string {
  return `${text.slice(0, text.indexOf(` ${a[0]}`))} ${isMore ? 'longer' : 'shorter'}`;
}

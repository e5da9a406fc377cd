import type { Difference, DifferenceSubject } from '@vantage/contract';

import type { Sample } from '../chance.ts';
import { byText } from '../probe-result.ts';
import { ms, safeText } from '../words.ts';
import type { TimeChange } from './noise.ts';

const [MOST_VALUES, MOST_LENGTH] = [64, 256];

/** Maximum number of values that a list in a text contains. */
const NAMED = 3;

interface Named {
  readonly subject: DifferenceSubject;
  /** Name of the field, if the subject has several. */
  readonly name?: string;
  /** Name of the field in the text. */
  readonly label: string;
}

/** A difference of one value; none if the values are equal or one of them is unknown. */
export function differentValue(named: Named, a: Value, b: Value): readonly Difference[] {
  if (a === b || a === undefined || b === undefined) return [];
  const [textOfA, textOfB] = [a, b].map((value) => (value === null ? 'none' : safeText(String(value), 160)));
  return [
    {
      subject: named.subject,
      name: named.name ?? null,
      certain: true,
      a: valuesOf(a === null ? [] : [String(a)]),
      b: valuesOf(b === null ? [] : [String(b)]),
      text: `${named.label} ${textOfA} → ${textOfB}`,
    },
  ];
}

type Value = string | number | boolean | null | undefined;

/** A difference of two sets, whatever their order; none if they are equal or one is unknown. */
export function differentSet(
  named: Named,
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): readonly Difference[] {
  if (a === undefined || b === undefined) return [];
  const [gone, added] = [a.filter((value) => !b.includes(value)), b.filter((value) => !a.includes(value))];
  if (gone.length + added.length === 0) return [];
  const isDisjoint = gone.length === a.length && added.length === b.length;
  const text = isDisjoint
    ? `${named.label} ${some(gone)} → ${some(added)}`
    : [
        ...(gone.length > 0 ? [`${named.label} without ${some(gone)}`] : []),
        ...(added.length > 0 ? [`${gone.length > 0 ? '' : `${named.label} `}with ${some(added)} in addition`] : []),
      ].join(', ');
  const { subject, name = null } = named;
  return [{ subject, name, a: valuesOf(a), b: valuesOf(b), certain: true, text }];
}

/** A difference, with the probability that it is noise, if that is known. */
export interface DifferenceDraft extends Difference {
  readonly chance?: number;
  /** Packets of both checks, of a difference that chance explains at one probe; probes that agree may prove it. */
  readonly samples?: readonly [a: Sample, b: Sample];
  /** True if the difference counts as noise unless so many probes have it that chance does not explain it. */
  readonly isTentative?: boolean;
}

/** The reason to doubt a difference in loss. */
export const FEW_PACKETS = ', too few packets to exclude chance';

/** Text with the possible causes of missing answers to echo requests and datagrams. */
export const LOSS_OR_LIMIT = ', by loss or a limit of answers';

/** The reason to doubt a difference that another path of a load balancer may explain. */
export const ANOTHER_WAY = ', as another way of a load balancer would be';

/** A large difference of times, marked uncertain: the callers decide by its `chance`. */
export function differentTime(named: Named, change: TimeChange | undefined): readonly DifferenceDraft[] {
  if (change === undefined) return [];
  const { aMs, bMs, chance, samples } = change;
  const median = named.subject === 'rtt' && Math.max(...samples) > 1 ? 'median ' : '';
  const [a, b] = [aMs, bMs].map((value) => Math.round(value * 1_000) / 1_000);
  return [
    {
      subject: named.subject,
      name: named.name ?? null,
      certain: false,
      chance,
      a: [ms(aMs)],
      b: [ms(bMs)],
      amounts: { a: a!, b: b!, unit: 'ms' },
      text: `${median}${named.label} ${ms(aMs)} → ${ms(bMs)}${samplesText(samples)}`,
    },
  ];
}

/** The reason to doubt a difference in times: `, measured 4 times each`, `, measured once and 3 times`. */
function samplesText([a, b]: TimeChange['samples']): string {
  const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);
  if (a === b) return `, measured ${times(a)} each`;
  return `, measured ${a > 1 && b > 1 ? a : times(a)} and ${times(b)}`;
}

/** Marks a difference as certain, and removes the reason for doubt from its text. */
export function certainly({ text, ...difference }: DifferenceDraft): DifferenceDraft {
  return { ...difference, certain: true, text: withoutSamples(text) };
}

/** The text without its reason for doubt: the number of samples or of packets, or another path of a load balancer. */
export function withoutSamples(text: string): string {
  return text
    .replace(/, measured (?:once|\d+)(?: times)?(?: each| and (?:once|\d+ times))$/, '')
    .replace(FEW_PACKETS, '')
    .replace(ANOTHER_WAY, '');
}

/** Adds the address family, if the difference has one, to its text. */
export function overFamily<D extends { readonly family?: Difference['family'] | undefined; readonly text: string }>(
  difference: D,
): D {
  const { family, text } = difference;
  return family === undefined ? difference : { ...difference, text: `over IPv${family} ${text}` };
}

export function uncertainly(difference: Difference): Difference {
  return { ...difference, certain: false };
}

function some(values: readonly string[]): string {
  if (values.length === 0) return 'none';
  const named = values
    .toSorted(byText)
    .slice(0, NAMED)
    .map((value) => safeText(value, 80));
  return [...named, ...(values.length > NAMED ? [`${values.length - NAMED} more`] : [])].join(', ');
}

function valuesOf(values: readonly string[]): string[] {
  return values.slice(0, MOST_VALUES).map((value) => safeText(value, MOST_LENGTH));
}

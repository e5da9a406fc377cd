import type { Comparison, SharedDifference } from '@vantage/contract';

import { countOf, listed } from '../words.ts';

/** Maximum number of differences in the sentence. */
const NAMED = 4;

type Sides = Pick<Comparison, 'a' | 'b'>;

interface Counts {
  /** Number of probes in both checks. */
  readonly compared: number;
  /** Number of the compared probes that measured in both checks. */
  readonly measured: number;
}

export function sentenceOf(differences: readonly SharedDifference[], sides: Sides, counts: Counts): string {
  const { compared } = counts;
  const clauses = differences.slice(0, NAMED).map(({ text, probes }) => {
    // The text of a difference in amounts at several probes lists them with their values.
    const isNamed = probes.length === 0 || (probes.length > 1 && text.includes(`${probes[0]} `));
    return isNamed ? text : `${text} (${namesOf(probes, compared)})`;
  });
  const more = differences.length - clauses.length;
  const what = [
    ...(clauses.length === 0 ? [sameness(counts)] : clauses),
    ...(more > 0 ? [countOf(more, 'more difference')] : []),
    ...onlyIn(sides),
  ].join('; ');
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}.`;
}

function sameness({ compared, measured }: Counts): string {
  if (compared === 0) return 'no probe is in both checks, so nothing was compared';
  if (measured === 0) return 'no probe measured in both checks, so nothing was compared';
  const probes = compared === 1 ? 'the one probe' : allOf(compared);
  if (measured === compared) return `nothing differs beyond noise: compared from ${probes} in both checks`;
  const others = compared - measured === 1 ? 'the other' : 'the others';
  return `nothing differs beyond noise: compared from ${measured} of ${compared} probes, ${others} did not measure`;
}

function namesOf(probes: readonly string[], compared: number): string {
  return probes.length === compared && compared > 1 ? allOf(compared) : listed(probes, 3);
}

function allOf(compared: number): string {
  return compared === 2 ? 'both probes' : `all ${compared} probes`;
}

function onlyIn({ a, b }: Sides): readonly string[] {
  return (
    [
      [a.probes, 'first'],
      [b.probes, 'second'],
    ] as const
  ).flatMap(([probes, which]) =>
    probes.length === 0
      ? []
      : [
          `${probes.length > 3 ? `${countOf(probes.length, 'probe')}, such as ${probes[0]},` : listed(probes)} only in the ${which} check`,
        ],
  );
}

import type { Difference, Family } from '@vantage/contract';

import { ANOTHER_WAY, withoutSamples, type DifferenceDraft } from './compare/difference.ts';
import { isBeyondChance } from './compare/noise.ts';
import { buildFinding, type FindingDraft } from './finding.ts';
import type { Measurements } from './measurements.ts';
import { listed, naming } from './words.ts';

export const families = [4, 6] as const;

/** One probe’s measurements over both families. */
export interface Pair {
  readonly probe: string;
  readonly of: Measurements;
}

export interface Seen {
  readonly pair: Pair;
  readonly difference: DifferenceDraft;
}

/**
 * Findings: the family over which probes took longer. A probe with times that are longer over either family counts for
 * neither.
 */
export function findSlower(pairs: readonly Pair[], seen: readonly Seen[]): readonly FindingDraft[] {
  const directions = Map.groupBy(
    seen.filter(({ difference }) => slowerFamily(difference) !== undefined),
    ({ pair }) => pair,
  );
  const clear = [...directions.values()].filter(
    (own) => new Set(own.map(({ difference }) => slowerFamily(difference))).size === 1,
  );
  return families.flatMap((family) => {
    const own = clear.filter(([first]) => slowerFamily(first!.difference) === family).map(([first]) => first!);
    return own.length === 0 ? [] : [slowerFinding(family, own, pairs.length)];
  });
}

/**
 * @param own one difference of each probe at which this family is slower
 * @param compared number of probes that measured both with the same outcome
 */
function slowerFinding(family: Family, own: readonly Seen[], compared: number): FindingDraft {
  const probes = probesIn(own);
  const chances = own.map(({ difference }) => difference.chance ?? 1);
  const isProved = isBeyondChance(own.length, compared, Math.max(...chances));
  const isOfOneWay = own.some(({ difference }) => difference.text.endsWith(ANOTHER_WAY));
  const texts = own.map(
    ({ pair, difference: { text } }) => `${pair.probe} (${isProved || isOfOneWay ? withoutSamples(text) : text})`,
  );
  const doubt = isOfOneWay
    ? `that does not prove that IPv${family} is slower, since two ways of a load balancer may differ so.`
    : `so few measurements do not prove that IPv${family} is slower.`;
  const what = isProved
    ? `IPv${family} is slower from ${naming(probes)}.`
    : `Over IPv${family} it took longer from ${naming(probes)}; ${doubt}`;
  return buildFinding('family_slower', 'info', probes, `${what} IPv4 → IPv6: ${listed(texts, 4)}.`);
}

function slowerFamily({ amounts }: Difference): Family | undefined {
  if (amounts === undefined || amounts.a === amounts.b) return undefined;
  return amounts.a > amounts.b ? 4 : 6;
}

export function probesIn(seen: readonly Seen[]): readonly Pair[] {
  return [...new Set(seen.map(({ pair }) => pair))];
}

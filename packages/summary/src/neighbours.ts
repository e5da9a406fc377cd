import type { ProbeFacts, ProbeResult } from './probe-result.ts';
import { countryName, networkName, safeText } from './words.ts';

export function placeText(facts: ProbeFacts): string {
  const city = facts.city ?? facts.datacenter;
  return `${safeText(city, 60)}, ${countryName(facts.countryCode)}, ${networkName(facts)}`;
}

/**
 * Sentence on the closest working probe, to rule out a cause in the network or the country of the failing one; empty if
 * not known.
 */
export function neighbours(facts: ProbeFacts | undefined, up: readonly ProbeResult[]): string {
  if (facts === undefined) return '';
  const who = up.length === 1 ? 'It' : 'One of them';
  const inNetwork = up.some((other) => other.facts?.asNumber === facts.asNumber);
  if (inNetwork) return `${who} is in the same network.`;
  const arePlaced = up.every((other) => other.facts !== undefined);
  const inCountry = up.some((other) => other.facts?.countryCode === facts.countryCode);
  if (inCountry) {
    const noNetwork = up.length === 1 ? ', not in the same network' : ', none in the same network';
    return `${who} is in the same country${arePlaced ? noNetwork : ''}.`;
  }
  if (!arePlaced) return '';
  return `${up.length === 1 ? 'It is not' : 'None of them is'} in the same country or network.`;
}

import { countryNameOf, escapeText } from '@vantage/contract';

import { byText, groupBy, type ProbeFacts, type ProbeResult } from './probe-result.ts';

const NAMED_PROBES = 4;

/** Escapes untrusted text for a sentence. */
export function safeText(text: string, maxCodePoints = 80): string {
  return escapeText(text, maxCodePoints);
}

/** Number of code points of a common start that are kept before the first difference. */
const KEPT = 20;

/**
 * Escapes different texts for a sentence. Of those that are so long that they would look alike, the start that a text
 * has in common with another one is left out, except for its last `KEPT` code points.
 */
export function safeDistinctTexts(texts: readonly string[], maxCodePoints = 80): (text: string) => string {
  const alike = Map.groupBy(new Set(texts), (text) => safeText(text, maxCodePoints));
  return (text) => {
    const others = (alike.get(safeText(text, maxCodePoints)) ?? []).filter((other) => other !== text);
    const from = Math.max(0, ...others.map((other) => commonStart(text, other) - KEPT));
    return safeText(`${from === 0 ? '' : '…'}${Array.from(text).slice(from).join('')}`, maxCodePoints);
  };
}

/** Number of code points at the start that two texts have in common. */
function commonStart(text: string, other: string): number {
  const [own, others] = [Array.from(text), Array.from(other)];
  const different = own.findIndex((character, index) => character !== others[index]);
  return different === -1 ? own.length : different;
}

/** `a`, `a and b`, `a, b and c`; a long list is cut and ends with a count. */
export function listed(items: readonly string[], most = NAMED_PROBES): string {
  const named = items.length > most ? [...items.slice(0, most - 1), `${items.length - most + 1} more`] : items;
  return named.length < 2 ? (named[0] ?? '') : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
}

/** `fra-1`, or `3 probes (fra-1, nyc-1 and sgp-1)`. */
export function naming(probeResults: readonly Pick<ProbeResult, 'probe'>[]): string {
  const names = listed(probeResults.map(({ probe }) => probe));
  return probeResults.length === 1 ? names : `${probeResults.length} probes (${names})`;
}

export function countOf(n: number, one: string, many = `${one}s`): string {
  return `${n === 1 ? 'one' : n} ${n === 1 ? one : many}`;
}

/**
 * `from 2 of 3 probes`, `from all 3 probes`, `from both probes`, `from the one probe asked`. If there are other probes
 * (`isPart`), the end is `that could measure` or the like, as in `from both probes that could measure`.
 */
export function fromAll(n: number, of: number, { did = 'could measure', isPart = false }: Counted = {}): string {
  const part = isPart ? ` that ${plural(did)}` : '';
  if (n < of) return `from ${n} of ${of} probes${part}`;
  if (n === 1) return `from the one probe ${isPart ? `that ${did}` : 'asked'}`;
  return `${n === 2 ? 'from both probes' : `from all ${n} probes`}${part}`;
}

/** The form of `fromAll` after “not”. */
export function fromAny(n: number, counted: Counted = {}): string {
  const part = counted.isPart === true ? ` that ${plural(counted.did ?? 'could measure')}` : '';
  return n === 1 ? fromAll(1, 1, counted) : `from any of ${n} probes${part}`;
}

/** `has measured` of one probe is `have measured` of several. */
function plural(did: string): string {
  return did.replace(/^has /, 'have ');
}

export interface Counted {
  /** Predicate of the counted probes that the others lack, such as `could measure`. */
  readonly did?: string | undefined;
  /** True if there are other probes, which the sentence does not mention. */
  readonly isPart?: boolean | undefined;
}

export function asText(asn: string | null | undefined, asName: string | null | undefined): string | undefined {
  if (asn === null || asn === undefined) return undefined;
  return asName === null || asName === undefined || asName === '' ? asn : `${asn} (${safeText(asName, 60)})`;
}

/** Formats a duration with few digits. */
export function ms(milliseconds: number): string {
  if (milliseconds >= 9995) return `${Math.round(milliseconds / 100) / 10} s`;
  if (milliseconds >= 999.5) return `${Math.round(milliseconds / 10) / 100} s`;
  if (milliseconds >= 10) return `${Math.round(milliseconds)} ms`;
  return milliseconds < 0.01 ? 'less than 0.01 ms' : `${Number(milliseconds.toPrecision(2))} ms`;
}

export function percent(share: number): string {
  return `${Math.max(1, Math.round(share * 100))} %`;
}

export function countryName(code: string): string {
  return countryNameOf(code) ?? code;
}

/** Names that take the article in a sentence. */
const ARTICLE =
  /^(?:Bahamas|Comoros|Gambia|Isle of Man|Maldives|Philippines|United )|(?:Islands|Netherlands|Republic|Territory|Territories)$/;

/** `in Germany`, `in the United States`. */
export function inCountry(code: string): string {
  const name = countryName(code);
  return `in ${ARTICLE.test(name) ? 'the ' : ''}${name}`;
}

export function continentName(continent: string): string {
  return continent.replaceAll(/(^|\s)\p{L}/gu, (letter) => letter.toUpperCase());
}

export function networkName({ asNumber, isp }: ProbeFacts): string {
  return `${asNumber} (${safeText(isp, 60)})`;
}

/**
 * The country that two or more probes share, for the end of a sentence: `all in Germany`. Undefined if they share none.
 */
export function commonPlace(probeResults: readonly ProbeResult[]): string | undefined {
  const countries = new Set(probeResults.map(({ facts }) => facts?.countryCode));
  const [country] = countries;
  if (countries.size !== 1 || country === undefined || probeResults.length < 2) return undefined;
  return `all ${inCountry(country)}`;
}

/** Counts probes by label: `200 (7 probes) and 503 (fra-1)`; of more than five labels, the last ones as `3 more`. */
export function tally<R extends ProbeResult>(
  probeResults: readonly R[],
  labelOf: (probeResult: R) => string | undefined,
): string {
  const groups = groupBy(probeResults, labelOf);
  return listed(
    groups.map(([label, own]) => `${label} (${own.length === 1 ? own[0]!.probe : `${own.length} probes`})`),
    5,
  );
}

export function unique(items: readonly string[]): readonly string[] {
  return [...new Set(items)].toSorted(byText);
}

/**
 * Changes a sentence of a probe so that it can be part of another one: without the full stop, and without the capital
 * letter of an article or the like.
 */
export function insideSentence(sentence: string): string {
  const part = sentence.replace(/\.$/, '');
  return /^(?:The|A|An|No|What) /.test(part) ? part.charAt(0).toLowerCase() + part.slice(1) : part;
}

import { measurementsOf, overOneFamily } from '../measurements.ts';
import type { ProbeResult, SparseResultOf } from '../probe-result.ts';
import { dataOf } from '../dns-answer.ts';
import type { Sample } from '../chance.ts';
import { thresholds } from '../thresholds.ts';
import { uncertainly, type DifferenceDraft } from './difference.ts';
import { listOf, outcomeText } from './fields/common.ts';
import { aliasOf } from './fields/dns.ts';
import { placeOf, trustOf } from './fields/http.ts';
import { chanceOfLossChange } from './noise.ts';

type ValuesOf = (result: ProbeResult) => readonly string[];

const known = (value: string | number | null | undefined): readonly string[] =>
  value === undefined || value === null ? [] : [String(value)];
/** Values of a field of http results; none for other types. */
const ofHttp =
  (valueOf: (result: SparseResultOf<'http'>) => string | number | null | undefined): ValuesOf =>
  ({ result }) =>
    known(valueOf(result));

/** Functions that return the values which may rotate among several servers, by subject and name of the difference. */
const rotating: Readonly<Record<string, ValuesOf>> = {
  answers: ({ result }) => dataOf(result),
  addresses: (probeResult) => listOf(probeResult) ?? [],
  'addresses resolvedIp': ({ result }) => known(result.resolvedIp),
  'certificate fingerprint256': ofHttp(({ tls }) => tls?.chain[0]?.fingerprint256),
};

/**
 * Functions like `rotating`, for values in which one of several servers may differ because it fails or is configured
 * differently.
 */
const ofOneServer: Readonly<Record<string, ValuesOf>> = {
  // A ping or trace of one flow may take the broken one of several paths, too.
  outcome: (one) => [outcomeText(one)],
  state: ({ result }) => known((result as SparseResultOf<'tcp'>).state),
  status: ofHttp(({ statusCode }) => statusCode),
  'redirect url': ofHttp(({ url }) => placeOf(url)),
  'redirect location': ofHttp(({ location, url }) => placeOf(location, url)),
  'protocol httpVersion': ofHttp(({ httpVersion }) => httpVersion),
  'protocol tls': ofHttp(({ tls }) => tls?.protocol),
  'certificate authorized': ofHttp((result) => (result.tls === undefined ? undefined : trustOf(result))),
  'answers rcode': ({ result }) => known((result as SparseResultOf<'dns'>).rcode),
  'answers canonicalName': ({ result }) => known(aliasOf(result)),
};

/** All measurements of the results: both of a result over two families. */
export function everyMeasurement(probeResults: readonly ProbeResult[]): readonly ProbeResult[] {
  return probeResults.flatMap((one) => Object.values(measurementsOf(one) ?? { one }));
}

type Doubt = (own: readonly [ProbeResult, ProbeResult], difference: DifferenceDraft) => DifferenceDraft;

/**
 * Marks differences in values that rotate among measurements as uncertain: each value that is new is among all values
 * of the first set, and each value that is gone among those of the second. This happens if a name has several servers
 * that answer differently.
 *
 * @param a measurements of the first check or over the first family, as `b` of the second
 * @param where end of the doubt `, which others had …` in the text
 */
export function rotationDoubts(
  a: readonly ProbeResult[],
  b: readonly ProbeResult[],
  where = 'in the other check',
): Doubt {
  return doubts(rotating, a, b, where);
}

/**
 * Like `rotationDoubts`, for values that may be those of one of several servers. If chance does not explain how many
 * measurements have a value in each set, its difference is a change: it stays certain.
 */
export function serverDoubts(a: readonly ProbeResult[], b: readonly ProbeResult[]): Doubt {
  return doubts(ofOneServer, a, b, 'in the other check', (valuesOf, value) => {
    const [inA, inB] = [a, b].map((all) => {
      const having = all.filter((one) => valuesOf(one).includes(value));
      return { sent: all.length, lost: having.length };
    }) as [Sample, Sample];
    return chanceOfLossChange(inA, inB) > thresholds.compare.rotation;
  });
}

function doubts(
  values: Readonly<Record<string, ValuesOf>>,
  a: readonly ProbeResult[],
  b: readonly ProbeResult[],
  where: string,
  isByChance: (valuesOf: ValuesOf, value: string) => boolean = () => true,
): Doubt {
  return (own, difference) => {
    const [ofA, ofB] = overOneFamily(own);
    const valuesOf = values[difference.name === null ? difference.subject : `${difference.subject} ${difference.name}`];
    if (valuesOf === undefined || !difference.certain) return difference;
    const over = (one: ProbeResult): ProbeResult =>
      difference.family === undefined ? one : (measurementsOf(one)?.[difference.family] ?? one);
    const [before, after] = [valuesOf(over(ofA)), valuesOf(over(ofB))];
    const [seenInA, seenInB] = [a, b].map((all) => new Set(all.flatMap(valuesOf))) as [Set<string>, Set<string>];
    const isKnown =
      before.length + after.length > 0 &&
      before.every((value) => after.includes(value) || seenInB.has(value)) &&
      after.every((value) => before.includes(value) || seenInA.has(value)) &&
      [...before, ...after].every((value) => isByChance(valuesOf, value));
    if (!isKnown) return difference;
    return { ...uncertainly(difference), text: `${difference.text}, which others had ${where}` };
  };
}

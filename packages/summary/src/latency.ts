import type { LookUpPlace } from '@vantage/contract';

import { buildFinding, type FindingDraft } from './finding.ts';
import { distanceKm, leastRttMs, median, pointOf, type Point } from './geography.ts';
import { byText, groupBy, type ProbeResult, type SparseResultOf } from './probe-result.ts';
import { roundTripMs, SYN_AGAIN_MS } from './round-trip.ts';
import { hasDoubtfulTimes } from './stalled.ts';
import { thresholds } from './thresholds.ts';
import { listed, ms } from './words.ts';

export interface Timed {
  readonly probeResult: ProbeResult;
  /** Minimum round-trip time that the probe measured, milliseconds. */
  readonly rttMs: number;
  /** The time for sentences: `rt` of the result if that is a round trip, else `rttMs`. */
  readonly shownMs: number;
}

export function findLatencies(
  type: string,
  up: readonly ProbeResult[],
  placeOf: LookUpPlace | undefined,
): readonly FindingDraft[] {
  const timed = timedOf(type, up);
  return [...outliers(type, timed, placeOf), ...contradictions(type, timed)];
}

export function timedOf(type: string, probeResults: readonly ProbeResult[]): readonly Timed[] {
  return probeResults.flatMap((probeResult) => {
    const rttMs = hasDoubtfulTimes(type, probeResult) ? undefined : shortestRtt(type, probeResult);
    if (rttMs === undefined) return [];
    return [{ probeResult, rttMs, shownMs: roundTripMs(type, probeResult) ?? rttMs }];
  });
}

/** The shortest network round trip, milliseconds; undefined for types whose times include work of a server. */
function shortestRtt(type: string, { result }: ProbeResult): number | undefined {
  switch (type) {
    case 'ping':
      return (result as SparseResultOf<'ping'>).rttMin ?? undefined;
    case 'tcp':
      return least([result.rt, ...((result as SparseResultOf<'tcp'>).attempts ?? []).map(({ rt }) => rt)]);
    case 'http':
      return (result as SparseResultOf<'http'>).timings?.connect;
    case 'traceroute': {
      const { hops = [], resolvedIp } = result as SparseResultOf<'traceroute'>;
      const own = hops.flatMap(({ responders }) => responders.filter(({ ip }) => ip !== null && ip === resolvedIp));
      return least([result.rt, ...(own.at(-1)?.rtts ?? [])]);
    }
    default:
      return undefined;
  }
}

function least(values: readonly (number | null | undefined)[]): number | undefined {
  const known = values.filter((value) => typeof value === 'number');
  return known.length === 0 ? undefined : Math.min(...known);
}

/**
 * A proxy on the path, as on satellite links, may complete the TCP handshake in place of the target, and a gateway may
 * answer pings.
 */
const OR_PROXY = ', or a proxy on the way takes the connections';
const OR_GATEWAY = ', or a device on the way answers in its name';

const SENT_AGAIN = ' A SYN that was lost and sent again looks the same.';

/**
 * Finding: probes whose round-trip times exceed what their distance explains by far more than those of the others.
 * Excess is measured against a multiple (`stretch`) of the minimum round-trip time to the target’s location. If the
 * location is unknown, or a round trip of some probe is too short for the distance to it, the target is assumed at the
 * fastest probe, whose time is added, and the finding is not certain.
 */
function outliers(type: string, timed: readonly Timed[], placeOf: LookUpPlace | undefined): readonly FindingDraft[] {
  const { minProbes, times, plusMs } = thresholds.outlier;
  if (timed.length < minProbes) return [];
  const explained = explainedBy(timed, placeOf);
  const excess = timed.map(({ rttMs }, index) => Math.max(0, rttMs - explained[index]!.rttMs));
  const far = timed.flatMap(({ probeResult, rttMs, shownMs }, index) => {
    const usual = median(excess.toSpliced(index, 1));
    const isFar = excess[index]! > times * usual && excess[index]! > usual + plusMs;
    return isFar ? [{ probeResult, rttMs, shownMs, isCertain: explained[index]!.isCertain }] : [];
  });
  if (far.length === 0) return [];
  const usual = median(
    timed
      .filter(({ probeResult }) => !far.some((one) => one.probeResult === probeResult))
      .map(({ shownMs }) => shownMs),
  );
  const [one] = far;
  const values = listed(far.map(({ probeResult, shownMs }) => `${probeResult.probe} ${ms(shownMs)}`));
  const again = type === 'http' && far.some(({ rttMs }) => rttMs >= SYN_AGAIN_MS) ? SENT_AGAIN : '';
  const isCertain = again === '' && far.every((one) => one.isCertain);
  const why = far.every((one) => one.isCertain)
    ? 'The distance does not explain it.'
    : 'The place of the target is not known well enough to rule out that distance explains it.';
  const text = `The round trip is far longer than that of the others (median ${ms(usual)}): ${values}. ${why}${again}`;
  const who = far.length === 1 ? one!.probeResult.probe : `${far.length} probes`;
  return [
    buildFinding(
      'latency_outlier',
      isCertain ? 'warning' : 'info',
      far.map(({ probeResult }) => probeResult),
      text,
      `${who} is far slower`,
    ),
  ];
}

interface Explained {
  readonly rttMs: number;
  /** Derived from the location of the target, rather than of the fastest probe. */
  readonly isCertain: boolean;
}

const nothing: Explained = { rttMs: 0, isCertain: false };

function explainedBy(timed: readonly Timed[], placeOf: LookUpPlace | undefined): readonly Explained[] {
  const anchors = new Map<string, readonly [where: Point | undefined, isCertain: boolean, rttMs: number]>();
  for (const [address, probeResults] of groupBy(timed.map(probeResultOf), addressOf)) {
    const own = timed.filter(({ probeResult }) => probeResults.includes(probeResult));
    const place = placeOf === undefined ? undefined : pointOf(placeOf(address));
    const isPossible = own.every(({ probeResult, rttMs }) => {
      const from = pointOf(probeResult.facts);
      return from === undefined || place === undefined || rttMs >= leastRttMs(from, place);
    });
    const fastest = own.reduce((fastest, one) => (one.rttMs < fastest.rttMs ? one : fastest));
    const isKnown = place !== undefined && isPossible;
    anchors.set(address, isKnown ? [place, true, 0] : [pointOf(fastest.probeResult.facts), false, fastest.rttMs]);
  }
  return timed.map(({ probeResult }) => {
    const [where, isCertain, rttMs] = anchors.get(addressOf(probeResult) ?? '') ?? [undefined, false, 0];
    const from = pointOf(probeResult.facts);
    if (from === undefined || where === undefined) return nothing;
    return { rttMs: rttMs + thresholds.outlier.stretch * leastRttMs(from, where), isCertain };
  });
}

function probeResultOf({ probeResult }: Timed): ProbeResult {
  return probeResult;
}

function addressOf({ result }: ProbeResult): string | undefined {
  return result.resolvedIp ?? undefined;
}

interface Pair {
  readonly a: Timed;
  readonly b: Timed;
  /** Milliseconds by which the sum of the round-trip times is below the minimum. */
  readonly lackMs: number;
}

/**
 * Finds pairs of probes whose locations contradict their measurements: the sum of both round-trip times covers a path
 * between the two probes by way of the target, so it is at least their direct round trip.
 */
function contradictions(type: string, timed: readonly Timed[]): readonly FindingDraft[] {
  const byAddress = groupBy(timed.map(probeResultOf), addressOf);
  return byAddress
    .toSorted(([a], [b]) => byText(a, b))
    .flatMap(([address, probeResults]) => {
      const pairs = contradicted(timed.filter(({ probeResult }) => probeResults.includes(probeResult)));
      return pairs.length === 0 ? [] : [contradiction(type, address, pairs)];
    });
}

function contradicted(timed: readonly Timed[]): readonly Pair[] {
  return timed.flatMap((a, index) =>
    timed.slice(index + 1).flatMap((b) => {
      const [from, to] = [pointOf(a.probeResult.facts), pointOf(b.probeResult.facts)];
      if (from === undefined || to === undefined) return [];
      const lackMs = leastRttMs(from, to) - (a.rttMs + b.rttMs);
      return lackMs > 0 ? [{ a, b, lackMs }] : [];
    }),
  );
}

function contradiction(type: string, address: string, pairs: readonly Pair[]): FindingDraft {
  const worst = pairs.reduce((worst, pair) => (pair.lackMs > worst.lackMs ? pair : worst));
  const { a, b } = worst;
  const km = Math.round(distanceKm(pointOf(a.probeResult.facts)!, pointOf(b.probeResult.facts)!));
  const involved = [...new Set(pairs.flatMap((pair) => [pair.a.probeResult, pair.b.probeResult]))].toSorted((x, y) =>
    byText(x.probe, y.probe),
  );
  const inAll = involved.filter((probeResult) =>
    pairs.every((pair) => pair.a.probeResult === probeResult || pair.b.probeResult === probeResult),
  );
  const suspect = pairs.length > 1 && inAll.length === 1 ? ` ${inAll[0]!.probe} is part of each such pair.` : '';
  const text =
    `${a.probeResult.probe} and ${b.probeResult.probe} are ${km} km apart by their stated places, and reach ${address} in ` +
    `${ms(a.rttMs)} and ${ms(b.rttMs)}: light in a fibre takes at least ${ms(a.rttMs + b.rttMs + worst.lackMs)} there and back. ` +
    `Either a stated place is wrong, or the address is served from several places (anycast)${type === 'tcp' || type === 'http' ? OR_PROXY : OR_GATEWAY}.${suspect}`;
  return buildFinding('place_contradicted', 'info', involved, text);
}

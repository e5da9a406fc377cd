import {
  soleReachOf,
  allServers,
  allEndpoints,
  isRedirected,
  lastServers,
  lastEndpoints,
  lastHost,
} from './requested-servers.ts';
import { countedPhrase } from './counted-phrase.ts';
import { isStale } from './extended-errors.ts';
import { findFailingFamily } from './failing-family.ts';
import { buildFinding, type FindingDraft } from './finding.ts';
import { neighbours, placeText } from './neighbours.ts';
import { reasonsOf } from './reasons.ts';
import { groupBy, probesOf, type ProbeResult } from './probe-result.ts';
import type { Partition } from './partition.ts';
import { commonPlace, continentName, fromAll, inCountry, listed, networkName, safeText, unique } from './words.ts';

/** Findings: the failing probes and their common property; none if the target is down for none. */
export function findScopes(partition: Partition, probeResults: readonly ProbeResult[]): readonly FindingDraft[] {
  const { up, down, counted } = partition;
  const probes = { down, counted, all: probeResults };
  if (down.length === 0) return [];
  if (up.length === 0) return [downEverywhere(partition)];
  const ofFamily = findFailingFamily(partition);
  if (ofFamily.length > 0) return ofFamily;
  if (down.length === 1) return [downOne(down[0]!, up)];
  // If all answers have expired, whether a probe gets one depends on the cache of its resolver, not on its place.
  if (haveExpired(up)) return [downSome(down, counted)];
  const scoped = [
    ...scope(
      'down_country',
      probes,
      ({ facts }) => facts?.countryCode,
      ({ facts }) => inCountry(facts!.countryCode),
    ),
    ...scope(
      'down_network',
      probes,
      ({ facts }) => facts?.asNumber,
      ({ facts }) => `in ${networkName(facts!)}`,
    ),
    ...scopeOfAddress(probes, up),
    ...scopeOfFamily(probes),
  ];
  const wide = scoped.some(({ code }) => code === 'down_country')
    ? []
    : scope(
        'down_continent',
        probes,
        ({ facts }) => facts?.continent,
        ({ facts }) => `in ${continentName(facts!.continent!)}`,
      );
  const all = [...scoped, ...wide];
  return all.length > 0 ? all : [downSome(down, counted)];
}

interface Probes {
  readonly down: readonly ProbeResult[];
  readonly counted: readonly ProbeResult[];
  /** All results of the check, those that do not count included. */
  readonly all: readonly ProbeResult[];
}

type ScopeCode = 'down_country' | 'down_network' | 'down_address' | 'down_family' | 'down_continent';

/**
 * Finding: the failing probes have something in common, such as their place. Requires that all of them share one key,
 * that every probe with this key fails, and that others have another key.
 */
function scope(
  code: ScopeCode,
  { down, counted, all }: Probes,
  keyOf: (probeResult: ProbeResult) => string | undefined,
  where: (probeResult: ProbeResult) => string,
): readonly FindingDraft[] {
  const keys = groupBy(counted, keyOf);
  const key = keyOf(down[0]!);
  const own = keys.find(([name]) => name === key)?.[1] ?? [];
  if (key === undefined || keys.length < 2 || own.length !== down.length) return [];
  if (!down.every((probeResult) => keyOf(probeResult) === key)) return [];
  const uncounted = all.filter((probeResult) => !counted.includes(probeResult));
  // A probe whose key is not known may have the same one.
  const isAll =
    counted.every((probeResult) => keyOf(probeResult) !== undefined) &&
    uncounted.every(({ facts }) => facts !== undefined);
  const part = uncounted.some((probeResult) => keyOf(probeResult) === key) ? ' that count' : '';
  const clause = where(down[0]!);
  const which =
    part !== '' && clause.startsWith('that ') ? clause.replace('that ', 'that count and ') : `${clause}${part}`;
  const place = `${isAll ? 'the ' : ''}${down.length} probes ${which}`;
  const others = counted.length - down.length;
  const total = `${counted.length}${part === '' && uncounted.length > 0 ? ' that count' : ''}`;
  const text = `It fails from ${place} and from no other of the ${total}: ${reasonsOf(down)}. ${
    others === 1 ? 'One other probe has' : `${others} others have`
  } an answer.`;
  return [buildFinding(code, 'critical', down, text, place)];
}

/**
 * True if a probe in `up` asked an address at which one in `down` failed: then the address does not distinguish them.
 * After redirects the last request is the one that failed, while the others may have asked the address in any request.
 */
function shareAddress(down: readonly ProbeResult[], up: readonly ProbeResult[]): boolean {
  const others = new Set(up.flatMap(allServers));
  return down.flatMap(lastServers).some((address) => others.has(address));
}

function scopeOfAddress(probes: Probes, up: readonly ProbeResult[]): readonly FindingDraft[] {
  // Without its URL a failed request may have asked any port.
  const others = new Set([...up.flatMap(allServers), ...up.flatMap(allEndpoints)]);
  if (probes.down.flatMap(lastEndpoints).some((server) => others.has(server))) return [];
  const askedBy = (probeResult: ProbeResult): string => lastServers(probeResult).join(' and ');
  const keyOf = (probeResult: ProbeResult): string | undefined => askedBy(probeResult) || undefined;
  // The others asked another port of the address, as that of a redirect.
  const isOfPort = shareAddress(probes.down, up);
  return scope('down_address', probes, keyOf, (one) => {
    return `that asked ${isOfPort ? lastEndpoints(one).join(' and ') : askedBy(one)}`;
  });
}

/**
 * Finding: the failing probes have the family in common over which they asked. If there were redirects, compares the
 * families over which the probes asked the host at which all of `down` failed; none if they failed at different hosts.
 */
function scopeOfFamily(probes: Probes): readonly FindingDraft[] {
  const { down, counted } = probes;
  const host = counted.some(isRedirected) ? lastHost(down[0]!) : undefined;
  if (host !== undefined && down.some((probeResult) => lastHost(probeResult) !== host)) return [];
  const keyOf = (probeResult: ProbeResult): string | undefined => soleReachOf(probeResult, host);
  const at = host === undefined ? '' : ` for ${safeText(host, 120)}`;
  return scope('down_family', probes, keyOf, (probeResult) => `that used ${keyOf(probeResult)}${at}`);
}

function downEverywhere(partition: Partition): FindingDraft {
  const { down } = partition;
  const reasons = reasonsOf(down);
  if (down.length > 1)
    return buildFinding(
      'down_everywhere',
      'critical',
      down,
      `It fails ${fromAll(down.length, down.length, countedPhrase(partition))}: ${reasons}.`,
    );
  const text = `It fails from ${down[0]!.probe}: ${reasons}. One probe alone cannot tell whether that is the target’s trouble or its own.`;
  return buildFinding('down_everywhere', 'critical', down, text);
}

function downOne(probeResult: ProbeResult, up: readonly ProbeResult[]): FindingDraft {
  const { probe, facts } = probeResult;
  const place = facts === undefined ? '' : ` (${placeText(facts)})`;
  const text = `Only ${probe}${place} fails: ${reasonsOf([probeResult])}. ${
    up.length === 1 ? 'One other probe has' : `${up.length} others have`
  } an answer${haveExpired(up) ? ' that has expired' : ''}. ${neighbours(facts, up)}`.trim();
  const own = addressesOfTheirOwn([probeResult], [...up, probeResult]);
  return buildFinding('down_one_probe', 'warning', [probeResult], `${text}${own}`, probe);
}

/** True for a dns check in which all that have an answer have one that has expired. */
function haveExpired(up: readonly ProbeResult[]): boolean {
  return up.every(({ result }) => isStale(result));
}

/**
 * Sentence with the addresses that the failing probes asked, if all others asked different ones: the cause may be the
 * servers there. Empty otherwise.
 */
function addressesOfTheirOwn(down: readonly ProbeResult[], counted: readonly ProbeResult[]): string {
  const others = counted.filter((one) => !down.includes(one));
  if (counted.some((one) => lastServers(one).length === 0) || shareAddress(down, others)) return '';
  return ` None of the others asked ${listed(unique(down.flatMap(lastServers)))}.`;
}

function downSome(down: readonly ProbeResult[], counted: readonly ProbeResult[]): FindingDraft {
  const place = commonPlace(down);
  const [country] = down.map(({ facts }) => facts?.countryCode);
  const isShared = counted.some(
    (probeResult) => !down.includes(probeResult) && probeResult.facts?.countryCode === country,
  );
  const arePlaced = counted.every(({ facts }) => facts !== undefined);
  const nothing = arePlaced ? ' They share no place, network or address that is theirs alone.' : '';
  const up = counted.filter((one) => !down.includes(one));
  const expired =
    up.length === 1 ? ' The other has an answer that has expired.' : ' The others have answers that have expired.';
  const common = haveExpired(up)
    ? expired
    : place === undefined || !isShared
      ? nothing
      : ` They are ${place}, where others have an answer.`;
  const text = `It fails from ${down.length} of ${counted.length} probes (${listed(probesOf(down))}): ${reasonsOf(down)}.${common}${addressesOfTheirOwn(down, counted)}`;
  const severity = down.length * 2 >= counted.length ? 'critical' : 'warning';
  return buildFinding('down_some', severity, down, text, listed(probesOf(down)));
}

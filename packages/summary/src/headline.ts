import type { Check, Verdict } from '@vantage/contract';
import type { AnswerKind } from '@vantage/diagnostics/contract';

import { pairHeadline } from './between/pair-headline.ts';
import { countedPhrase } from './counted-phrase.ts';
import { isCutOff } from './cut-off.ts';
import { SYN_AGAIN_MS } from './shown-rtt.ts';
import type { FindingDraft } from './finding.ts';
import { median } from './geography.ts';
import { timedOf } from './latency.ts';
import { reasonsOf } from './reasons.ts';
import { measuredHost } from './measured-host.ts';
import { firstByteOf } from './first-byte.ts';
import { ofType, type ProbeResult, type SparseResultOf } from './probe-result.ts';
import { redirectedTo } from './redirected.ts';
import { isWithoutFamily } from './resolution.ts';
import { payloadText } from './payload-text.ts';
import { isResetAlone } from './traceroute/resets.ts';
import { chosenText } from './traceroute/steps/chosen-packets.ts';
import { findingRules } from './rules.ts';
import { answersEchoAlone, goesRound, isRefused, type Partition } from './partition.ts';
import { isDelegated, answerKindOf, classifiedAnswer } from './dns-answer.ts';
import { asText, countOf, countryName, fromAll, fromAny, listed, ms, naming, shown, unique } from './words.ts';

interface HeadlineInput {
  readonly check: Check;
  readonly probeResults: readonly ProbeResult[];
  readonly partition: Partition;
  readonly verdict: Verdict;
  /** Findings in descending severity. */
  readonly findings: readonly FindingDraft[];
}

/** The verdict, its main reason or time, and the silent and pending probes. */
export function headlineOf(input: HeadlineInput): string {
  const { check, partition, verdict, findings } = input;
  const limitation = verdict === 'degraded' ? limitationOf(check, findings, partition.up.length) : undefined;
  const ofPair = pairHeadline(check, partition, limitation, findings);
  if (ofPair !== undefined) return ofPair;
  const { pending, silent } = input.partition.counts;
  // The headline of an unknown verdict names the silent probes itself, or the pending ones if none is silent.
  const isUnknown = verdict === 'unknown';
  const ofSilent = silent > 0 && !isUnknown ? `; ${countOf(silent, 'probe')} ${silenceOf(input.check)}` : '';
  const ofPending =
    pending > 0 && (silent > 0 || !isUnknown) ? `; ${countOf(pending, 'probe')} ${notYet(pending)}` : '';
  return `${answerOf(input)}${ofSilent}${ofPending}.`;
}

function notYet(pending: number): string {
  return `${pending === 1 ? 'has' : 'have'} not answered yet`;
}

function silenceOf({ type }: Check): string {
  if (type === 'traceroute' || type === 'ping') return 'heard nothing from it, which proves nothing';
  return `${type === 'dns' ? 'got no answer to the question' : 'heard nothing back'}, which proves neither`;
}

function answerOf(input: HeadlineInput): string {
  const { check, partition, verdict, findings } = input;
  const { up, down, counted } = partition;
  if (verdict === 'unknown') return unknownOf(input);
  if (verdict === 'down') {
    const resolved = input.probeResults.filter(({ result }) => typeof result.resolvedIp === 'string');
    if (isNameless(check, down) && resolved.length > 0) {
      return `The name of ${hostOf(check)} resolves from ${countOf(resolved.length, 'probe')}, and not from ${naming(down)}: ${reasonsOf(down)}`;
    }
    return `${negative(check, input.probeResults, down)} ${fromAny(down.length, countedPhrase(partition))}: ${reasonsOf(down)}`;
  }
  const answers = `${positive(check, input.probeResults, up)} ${fromAll(confirmingResults(check, up).length, counted.length, countedPhrase(partition))}`;
  if (verdict === 'up') return `${answers}${supplementOf(input)}${ofEchoAlone(check, up)}`;
  if (verdict === 'degraded') return `${answers}, but ${limitationOf(check, findings, up.length)}`;
  const scope = findings.find(({ code }) => code.startsWith('down_'))?.brief ?? countOf(down.length, 'probe');
  return `${answers}, and fails from ${scope}: ${reasonsOf(down)}`;
}

/**
 * The results that the headline counts as answers of the target: for dns those with records, for traceroute those that
 * reached it; all of `up` if there are none, and for other types.
 */
function confirmingResults({ type }: Check, up: readonly ProbeResult[]): readonly ProbeResult[] {
  if (type === 'traceroute') {
    const reached = ofType<'traceroute'>(up).filter(({ result }) => !answersEchoAlone(result));
    return reached.length > 0 ? reached : up;
  }
  if (type !== 'dns') return up;
  const answered = ofType<'dns'>(up).filter(({ result }) => answerKindOf(result) === 'answer');
  return answered.length > 0 ? answered : up;
}

/**
 * Clause with the number of probes of a traceroute to which the target answered only echo requests; empty unless others
 * reached it.
 */
function ofEchoAlone(check: Check, up: readonly ProbeResult[]): string {
  const others = up.length - confirmingResults(check, up).length;
  if (check.type !== 'traceroute' || others === 0) return '';
  return `; of ${countOf(others, 'probe')} it answers echo requests alone`;
}

/**
 * True if the packets of a trace ran into a routing loop or were refused, and the target answered its echo requests.
 */
function isReachedByEcho({ result }: ProbeResult): boolean {
  const trace = result as SparseResultOf<'traceroute'>;
  return answersEchoAlone(trace) && (goesRound(trace) || isRefused(trace));
}

function unknownOf({ check, probeResults, partition }: HeadlineInput): string {
  const { counts, silent, notMeasured, lone } = partition;
  const host = hostOf(check);
  if (lone !== undefined) {
    const answered = `Only one probe got an answer for ${host} (${recordTypeOf(probeResults)}): ${reasonsOf([lone])}`;
    return `${answered}; ${silent.length - 1} probes got none, so that it proves too little`;
  }
  if (silent.length > 0 && check.type === 'dns') {
    return `No probe got an answer for ${host} (${recordTypeOf(probeResults)}): ${reasonsOf(silent)}`;
  }
  if (silent.length > 0 && check.type === 'traceroute') {
    return `No probe can tell whether ${host} is reached: ${reasonsOf(silent)}`;
  }
  if (silent.length > 0) {
    return `No probe heard back from port ${portOf(probeResults)} of ${host}: with UDP that proves neither that it is open nor that it is closed`;
  }
  if (counts.pending > 0) return `No probe has measured ${host} yet`;
  if (notMeasured.length === 0) return `No probe measured ${host}`;
  return `No probe could measure ${host}: ${reasonsOf(notMeasured)}`;
}

/**
 * Of the findings above `info` that have a clause: the clause of the most severe one that makes a target degraded, else
 * of the most severe one.
 */
function limitationOf({ type }: Check, findings: readonly FindingDraft[], up: number): string {
  const why = findings.filter(({ severity, brief }) => severity !== 'info' && brief !== undefined);
  const finding = why.find(({ code }) => findingRules[code].degrades) ?? why[0];
  if (finding?.brief === undefined) return 'not as it should';
  return `${finding.brief}${OF_ALL.has(type) ? forSome(finding, up) : ''}`;
}

/** Types whose clauses do not say for which probes they hold. */
const OF_ALL: ReadonlySet<string> = new Set(['http', 'ping', 'tcp']);

/** The probes for which the clause holds, if these are not all and it does not name them. */
function forSome({ code, brief = '', probes }: FindingDraft, up: number): string {
  const isNamed =
    code.startsWith('family_') || probes.some((probe) => brief.includes(probe)) || / probes?\b/.test(brief);
  if (isNamed || probes.length >= up) return '';
  return ` for ${probes.length === 1 ? probes[0] : `${probes.length} of ${up} probes`}`;
}

function hostOf({ host }: Check): string {
  return shown(host, 120);
}

function positive(check: Check, probeResults: readonly ProbeResult[], up: readonly ProbeResult[]): string {
  const host = measuredHost(check, probeResults);
  switch (check.type) {
    case 'ping':
      return `${host} answers pings`;
    case 'http':
      return `${host} ${redirectionOf(up)}${statusOf(up)}`;
    case 'tcp':
    case 'udp':
      return `Port ${portOf(probeResults)} of ${host} ${probeResults.every(isOpen) && probeResults.some(({ outcome }) => ['failure', 'timeout'].includes(outcome)) ? 'answers as expected' : 'is open'}`;
    case 'dns':
      return resolved(host, recordTypeOf(probeResults), ofType<'dns'>(up));
    case 'traceroute':
      return `${host}${ofType<'traceroute'>(up).every(({ result }) => isResetAlone(result)) ? ', or a firewall in its name,' : ''} ${up.every(isReachedByEcho) ? 'answers echo requests' : 'is reached'}`;
    case 'info':
      return `${host} is ${addressText(check.host, up)}, as seen`;
    default:
      return `${host} answers`;
  }
}

function negative(check: Check, probeResults: readonly ProbeResult[], down: readonly ProbeResult[]): string {
  const host = measuredHost(check, probeResults);
  if (isNameless(check, down)) {
    const [family] = down.map(({ result }) => result.error?.family);
    return down.every(isWithoutFamily)
      ? `${host} cannot be reached over IPv${family}`
      : `The name of ${host} does not resolve`;
  }
  switch (check.type) {
    case 'ping':
      return `${host} does not answer pings${payloadText(down)}`;
    case 'http':
      return `${host} does not work`;
    case 'tcp':
    case 'udp':
      return `Port ${portOf(probeResults)} of ${host} is ${down.every(isOpen) ? 'open, and does not answer as expected' : 'not open'}`;
    case 'dns':
      return `${host} does not resolve (${recordTypeOf(probeResults)})`;
    case 'traceroute':
      if (down.some(isRefusedTrace)) return `${host} does not accept traces`;
      return down.every(isSilentTrace)
        ? `${host} does not answer traces${chosenText(down[0]!.result)}`
        : `${host} is not reached`;
    case 'info':
      return `${host} cannot be looked up`;
    default:
      return `${host} does not answer`;
  }
}

/** True for an open port, even if the dialogue of a module failed after the connection. */
function isOpen({ result }: ProbeResult): boolean {
  return (result as SparseResultOf<'tcp'>).state === 'open';
}

/** True if all these probes could not resolve the host itself, rather than one to which it redirects. Never for dns. */
function isNameless({ type }: Check, down: readonly ProbeResult[]): boolean {
  if (type === 'dns') return false;
  return ofType<'http'>(down).every(
    ({ result: { error, redirects = [] } }) => error?.phase === 'resolve' && redirects.length === 0,
  );
}

/** True if the packets arrived, and the target itself answers them with an ICMP error. */
function isRefusedTrace({ result }: ProbeResult): boolean {
  const { reached, error } = result as SparseResultOf<'traceroute'>;
  return reached === true && error?.source === 'target';
}

/**
 * True if the packets may have reached the target: nothing that ends the path was seen, neither a loop nor an ICMP
 * error.
 */
function isSilentTrace({ result }: ProbeResult): boolean {
  const { error, loop } = result as SparseResultOf<'traceroute'>;
  return error?.code === 'timed_out' && (loop === null || loop === undefined);
}

/** The time that an `up` target took, and the first warning without a clause, if there is one. */
function supplementOf({ check, partition, findings }: HeadlineInput): string {
  const warning = findings.find(({ severity, brief }) => severity === 'warning' && brief === undefined);
  const time = check.type === 'http' ? pageTimeOf(partition.up) : roundTripOf(check, partition.up);
  return warning === undefined ? time : `${time}; ${lower(warning.text).replace(/\.$/, '')}`;
}

function roundTripOf({ type }: Check, up: readonly ProbeResult[]): string {
  const timed = timedOf(type, up).map(({ shownMs }) => shownMs);
  if (timed.length === 0) return '';
  const [time, which] = [median(timed), timed.length === 1 ? '' : 'median '];
  // A long round trip looks the same as a SYN that was sent again.
  if (type === 'tcp' && time >= SYN_AGAIN_MS) {
    return ` (${which}handshake ${ms(time)}, in which a packet may have been sent again)`;
  }
  return ` (${which}round trip ${ms(time)})`;
}

/** First byte and total time of the page, with the redirects before it, in place of the round trip of TCP. */
function pageTimeOf(up: readonly ProbeResult[]): string {
  const results = ofType<'http'>(up).map(({ result }) => ({ ...result, beforeMs: redirectMs(result) }));
  const first = results.flatMap(({ timings, beforeMs }) => {
    const ownMs = firstByteOf(timings);
    return ownMs === undefined ? [] : [beforeMs + ownMs];
  });
  const total = results.flatMap(({ timings, beforeMs }) => (timings === undefined ? [] : [beforeMs + timings.total]));
  if (first.length === 0 || total.length === 0) return '';
  const included = results.some(({ beforeMs }) => beforeMs > 0) ? ', redirects included' : '';
  return ` (${first.length === 1 ? '' : 'median '}first byte ${ms(median(first))}, total ${ms(median(total))}${included})`;
}

function redirectMs({ redirects = [] }: SparseResultOf<'http'>): number {
  return redirects.reduce((sum, { timings }) => sum + timings.total, 0);
}

function lower(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

function portOf(probeResults: readonly ProbeResult[]): string {
  const port = ofType<'tcp'>(probeResults).find(({ result }) => result.port !== undefined)?.result.port;
  return port === undefined ? '' : String(port);
}

/** The HTTP status, if it is below 400 and equal for all probes. */
function statusOf(up: readonly ProbeResult[]): string {
  const codes = new Set(ofType<'http'>(up).map(({ result }) => result.statusCode));
  const [code = 400] = codes;
  return codes.size === 1 && code < 400 ? ` with status ${code}` : '';
}

/**
 * `redirects to https://b.example, which answers` (or `to 2 places, which answer`) if redirects led all probes to
 * another host, else `answers`. Hosts that differ only in a leading `www.` count as one.
 */
function redirectionOf(up: readonly ProbeResult[]): string {
  const places = ofType<'http'>(up).map(({ result }) => {
    const first = URL.parse(result.redirects?.[0]?.url ?? '')?.hostname ?? '';
    // A redirect that was refused has led nowhere.
    const last = result.statusCode === undefined ? undefined : redirectedTo(result);
    return last === undefined || withoutWww(last.hostname) === withoutWww(first) ? undefined : shown(last.origin, 120);
  });
  const hosts = unique(places.filter((place) => place !== undefined));
  if (places.includes(undefined) || hosts.length === 0) return 'answers';
  return hosts.length === 1
    ? `redirects to ${hosts[0]}, which answers`
    : `redirects to ${hosts.length} places, which answer`;
}

function withoutWww(host: string): string {
  return host.replace(/^www\./, '');
}

function recordTypeOf(probeResults: readonly ProbeResult[]): string {
  const type = ofType<'dns'>(probeResults).find(({ result }) => result.recordType !== undefined)?.result.recordType;
  return type === undefined ? '?' : shown(type, 16);
}

function resolved(host: string, type: string, up: readonly ProbeResult<SparseResultOf<'dns'>>[]): string {
  const read = up.map(({ result }) => classifiedAnswer(result));
  const has = (kind: AnswerKind): boolean => read.some((answer) => answer?.kind === kind);
  if (has('answer')) return `${host} resolves (${type})`;
  if (up.some(({ result }) => isDelegated(result))) return `${host} is delegated, by the zone above it, as seen`;
  if (has('alias') && has('nodata')) return `${host} has no records of type ${type} in the answers, as seen`;
  if (has('alias')) return `${host} is an alias, with no records of type ${type} in the answer, as seen`;
  const aliases = unique(read.flatMap((answer) => answer?.canonicalName ?? []));
  const [alias] = aliases;
  if (alias === undefined && !up.some(({ result }) => result.authority?.some((record) => record.type === 'SOA'))) {
    return `${host} has no records of type ${type}, by an answer without the SOA that proves it, as seen`;
  }
  if (alias === undefined) return `${host} exists, without records of type ${type}, as seen`;
  const end = aliases.length === 1 ? `of ${shown(alias, 120)}, which` : 'of names that';
  return `${host} is an alias ${end} ${aliases.length === 1 ? 'has' : 'have'} no records of type ${type}, as seen`;
}

/** Address (unless it is the host itself), network and place; only the addresses if several were looked up. */
function addressText(host: string, up: readonly ProbeResult[]): string {
  const results = ofType<'info'>(up).map(({ result }) => result);
  const addresses = unique(results.flatMap(({ ip }) => ip ?? []));
  const first: SparseResultOf<'info'> = results[0] ?? {};
  const part = partOfAddresses(addresses, up);
  if (addresses.length !== 1) return `${listed(addresses.map((address) => shown(address)))}${part}`;
  const { asn, asName, city, countryCode } = first;
  const place = [city, typeof countryCode === 'string' ? countryName(countryCode) : null].filter(
    (part) => typeof part === 'string',
  );
  const facts = [asText(asn, asName), ...place.map((part) => shown(part, 60))].filter((part) => part !== undefined);
  if (addresses[0] === host && facts.length === 0) return 'in no network or place that the geo data has';
  const isNews = addresses[0] !== host;
  return [...(isNews ? [`${shown(addresses[0]!)}${part}`] : []), ...facts].join(', ');
}

/** ` (one of its 2 addresses)`, if the name has addresses that were not looked up. */
function partOfAddresses(lookedUp: readonly string[], up: readonly ProbeResult[]): string {
  const all = unique([...lookedUp, ...ofType<'info'>(up).flatMap(({ result }) => result.addresses ?? [])]);
  if (all.length === lookedUp.length) return '';
  const count = `${all.length}${up.some(isCutOff) ? ' or more' : ''} addresses`;
  return ` (${lookedUp.length === 1 ? 'one' : lookedUp.length} of its ${count})`;
}

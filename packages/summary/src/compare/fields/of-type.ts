import type { Difference } from '@vantage/contract';

import { hasDoubtfulSilence, hasDoubtfulTimes } from '../../stalled.ts';
import { ofType, type ProbeResult, type SparseResultOf } from '../../probe-result.ts';
import type { Sample } from '../../chance.ts';
import {
  ANOTHER_WAY,
  differentTime,
  differentValue,
  uncertainly,
  withoutSamples,
  type DifferenceDraft,
} from '../difference.ts';
import { chanceOfApart, rttChange } from '../noise.ts';
import { addressDifferences } from './common.ts';
import { dnsDifferences } from './dns.ts';
import { httpDifferences } from './http.ts';
import { answeredFlows, lossAtTarget, targetHop } from './traceroute.ts';

/**
 * Differences between two measurements, without path and loss; without times if a stall of the probe makes those of one
 * doubtful.
 */
export function measuredDifferences(type: string, a: ProbeResult, b: ProbeResult): readonly DifferenceDraft[] {
  const differences = allDifferences(type, a, b);
  const isDoubtful = [a, b].some((one) => hasDoubtfulTimes(type, one));
  return isDoubtful ? differences.filter(({ amounts }) => amounts?.unit !== 'ms') : differences;
}

/**
 * Replaces the chance of a difference of round trips, which counts packets, by the chance that counts flows, if that is
 * larger: all packets of a flow take one path behind a load balancer, and are one sample of its paths. Returns other
 * differences unchanged.
 */
export function weighedByFlows(
  type: string,
  a: ProbeResult,
  b: ProbeResult,
  difference: DifferenceDraft,
): DifferenceDraft {
  const [ofA, ofB] = [flowsOf(type, a), flowsOf(type, b)];
  if (difference.subject !== 'rtt' || ofA === undefined || ofB === undefined) return difference;
  const { chance = 1, text } = difference;
  const chanceOfFlows = chanceOfApart(ofA, ofB);
  if (chanceOfFlows <= chance) return difference;
  return { ...difference, chance: chanceOfFlows, text: `${withoutSamples(text)}${ANOTHER_WAY}` };
}

/** Number of flows: 1 for a ping, for a trace those that the target answered; undefined for other types. */
function flowsOf(type: string, { result }: ProbeResult): number | undefined {
  if (type === 'ping') return 1;
  return type === 'traceroute' ? answeredFlows(result) : undefined;
}

function allDifferences(type: string, a: ProbeResult, b: ProbeResult): readonly DifferenceDraft[] {
  const rtt = differentTime({ subject: 'rtt', label: 'round trip' }, rttChange(rttsOf(type, a), rttsOf(type, b)));
  switch (type) {
    case 'dns':
      return dnsDifferences(a.result, b.result);
    case 'http':
      return [...addressDifferences(a, b), ...httpDifferences(a.result, b.result)];
    case 'info':
      return [...addressDifferences(a, b), ...placeDifferences(a.result, b.result)];
    case 'tcp':
    case 'udp':
      return [...stateDifferences(a.result, b.result), ...addressDifferences(a, b), ...rtt];
    default:
      return [...addressDifferences(a, b), ...rtt];
  }
}

/** Differences between the requests, as far as results repeat them. */
export function requestDifferences(type: string, a: ProbeResult, b: ProbeResult): readonly Difference[] {
  const [ofA, ofB] = ofType<'ping'>([a, b]).map(({ result }) => result as RepeatedFields);
  return (repeatedFields[type] ?? []).flatMap(([field, label]) =>
    differentValue({ subject: 'request', name: field, label }, ofA![field], ofB![field]),
  );
}

type RepeatedFields = Pick<SparseResultOf<'ping'>, 'size' | 'ttl'> &
  Pick<SparseResultOf<'tcp'>, 'port'> &
  Pick<SparseResultOf<'dns'>, 'recordType' | 'family'> &
  Pick<SparseResultOf<'traceroute'>, 'protocol' | 'dscp' | 'firstHop'>;

/** Fields of requests that results repeat. */
export const repeatedFields: Readonly<Record<string, readonly (readonly [keyof RepeatedFields, string])[]>> = {
  ping: [
    ['size', 'payload bytes'],
    ['ttl', 'TTL'],
    ['dscp', 'DSCP'],
  ],
  tcp: [['port', 'port']],
  udp: [['port', 'port']],
  dns: [
    ['recordType', 'record type'],
    ['family', 'address family'],
  ],
  traceroute: [
    ['protocol', 'protocol'],
    ['size', 'packet bytes'],
    ['dscp', 'DSCP'],
    ['firstHop', 'first hop'],
  ],
};

/**
 * Sent and lost packets (ping, traceroute) or handshakes (tcp); undefined for other types, for a closed port, for a
 * trace without a `targetHop`, and for tcp if the probe stalled so long that it may have missed answers.
 */
export function lossOf(type: string, probeResult: ProbeResult): Sample | undefined {
  const { result } = probeResult;
  if (hasDoubtfulSilence(type, probeResult)) return undefined;
  if (type === 'ping') {
    // Counted by the rows, without those of duplicates.
    const sent = ((result as SparseResultOf<'ping'>).packets ?? []).filter(({ duplicate }) => !duplicate);
    return { sent: sent.length, lost: sent.filter(({ rtt }) => rtt === null).length };
  }
  if (type === 'traceroute') return lossAtTarget(result);
  if (type !== 'tcp') return undefined;
  const { attempts = [], state } = result as SparseResultOf<'tcp'>;
  if (state === 'closed') return undefined;
  // A refusal is an answer.
  const lost = attempts.filter(({ rt, error }) => rt === null && error?.code !== 'connection_refused');
  return { sent: attempts.length, lost: lost.length };
}

/**
 * Round-trip times to the target, milliseconds: of pings, of attempts (tcp, udp), or of the last hop of a trace whose
 * most frequent responder is the target. None for other types.
 */
export function rttsOf(type: string, { result }: ProbeResult): readonly number[] {
  switch (type) {
    case 'ping': {
      const { packets = [] } = result as SparseResultOf<'ping'>;
      return packets.flatMap(({ rtt, duplicate }) => (rtt === null || duplicate ? [] : [rtt]));
    }
    case 'tcp':
    case 'udp':
      return ((result as SparseResultOf<'tcp'>).attempts ?? []).flatMap(({ rt }) => rt ?? []);
    case 'traceroute':
      return (targetHop(result as SparseResultOf<'traceroute'>)?.rtts ?? []).filter((rtt) => rtt !== null);
    default:
      return [];
  }
}

function stateDifferences(a: SparseResultOf<'tcp'>, b: SparseResultOf<'tcp'>): readonly Difference[] {
  return differentValue({ subject: 'state', label: 'port' }, a.state, b.state);
}

function placeDifferences(a: SparseResultOf<'info'>, b: SparseResultOf<'info'>): readonly Difference[] {
  // The name resolved to both addresses in both checks, and each describes one of them: a choice, no change.
  const isChoice = [a, b].every(({ addresses = [] }) => [a.ip, b.ip].every((ip) => addresses.includes(ip ?? '')));
  if (isChoice && a.ip !== b.ip) return [];
  if (a.ip !== b.ip) return differentValue({ subject: 'addresses', name: 'ip', label: 'address' }, a.ip, b.ip);
  const subject = 'place';
  return [
    ...differentValue({ subject, name: 'asn', label: 'network' }, a.asn, b.asn),
    ...differentValue({ subject, name: 'countryCode', label: 'country' }, a.countryCode, b.countryCode),
    ...differentValue({ subject, name: 'city', label: 'city' }, a.city, b.city),
    ...differentValue({ subject, name: 'hostname', label: 'name of the address' }, a.hostname, b.hostname),
    // A value that one check lacks may be unknown to it: a name server did not answer, or the geo data has no entry.
  ].map((difference) =>
    difference.a.length === 0 || difference.b.length === 0 ? uncertainly(difference) : difference,
  );
}

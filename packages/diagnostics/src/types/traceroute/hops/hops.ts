import { roundMs, type Family } from '@vantage/contract';

import { rttStatistics } from '../../../shared/rtt-statistics.ts';
import type { PacketProtocol } from '../../../sockets/packet-socket.ts';
import { icmpMark } from '../../../sockets/icmp/icmp-failure.ts';
import { MAX_RESPONDERS, type FlowPath, type FullTtl, type Hop } from '../result-fields.ts';
import type { HopStats } from '../options/round-options.ts';
import type { FlowView } from '../probing/flow-view.ts';
import { repliesOf } from './replies.ts';
import { NAMELESS, type HopName } from './hop-names.ts';
import type { Trace } from '../probing/trace-state.ts';
import { withOwnAnswers } from './refused-on-way.ts';
import { stopReasonOf } from './stop-reason.ts';
import { isFull, rttOf, type TraceAnswer, type TracePacket } from '../probing/trace.ts';

/** How the hops of a trace appear in its result. */
export interface HopFormat {
  readonly family: Family;
  readonly protocol: PacketProtocol;
  readonly firstHop: number;
  readonly maxHops: number;
  /** True to report the header fields of the replies of each hop. */
  readonly hasReplies?: boolean;
  /** MTU of the link behind a router, by its address, as far as it reported one. */
  readonly nextMtus?: ReadonlyMap<string, number>;
  /** The public form of an address; null if it is hidden. */
  readonly publicIp: (address: string) => string | null;
  readonly isPrivate: (address: string) => boolean;
  /** The PTR name, as far as it is known. */
  readonly name: (address: string) => HopName;
}

/** Packets as shown in a result. A silent hop stays in the list: indexes stand for the TTLs from `firstHop` on. */
export interface FormattedPath {
  readonly hops: Hop[];
  /** For each flow, which responder answered which packet; made when it is read. */
  readonly flows: FlowPath[];
}

/** Builds the hops of a result and the path of each flow. */
export function formatPath(trace: Trace, format: HopFormat): FormattedPath {
  const kept = keptPackets(trace, format.firstHop);
  const firstUnsent = kept.findIndex((packets) => packets.length === 0);
  const sent = firstUnsent === -1 ? kept : kept.slice(0, firstUnsent);
  // Packets that are still awaited are left out. A hop that has no others stays only if a later hop has some.
  const settled = sent.map((packets) => packets.filter(({ answer, isGivenUp }) => answer !== null || isGivenUp));
  const shown = settled.slice(0, settled.findLastIndex((packets) => packets.length > 0) + 1);
  const own = shown.map((packets) => withOwnAnswers(packets, trace.views));
  const ranked = own.map(respondersOf);
  return {
    hops: own.map((packets, index) => ({
      ...hopOf(index + format.firstHop, packets, shown[index]!, ranked[index]!, format),
      ...(trace.rounds === undefined ? {} : { stats: statsOf(packets) }),
    })),
    get flows() {
      return trace.views.map((view, flow) => ({
        reached: view.reached,
        stopReason: stopReasonOf(flow, trace, format.maxHops),
        hops: [
          ...Array.from({ length: shown.length === 0 ? 0 : format.firstHop - 1 }, () => []),
          ...own.map((packets, index) =>
            packets.filter((packet) => packet.flow === flow).map(({ answer }) => rankOf(answer, ranked[index]!)),
          ),
        ],
      }));
    },
  };
}

/** The packets that count at each hop, from `firstHop` to the last hop to report, in the order sent. */
function keptPackets({ packets, views }: Trace, firstHop: number): TracePacket[][] {
  const hops = Array.from({ length: Math.max(0, lastHop(views) - firstHop + 1) }, (): TracePacket[] => []);
  for (const packet of packets) {
    const hop = views[packet.flow]!.hopOf(packet);
    if (hop !== null) hops[hop - firstHop]?.push(packet);
  }
  return hops;
}

/**
 * The last hop to report. Once a flow has reached the target, flows without an end count up to their last answer only:
 * their silence adds no hops beyond the target.
 */
function lastHop(views: readonly FlowView[]): number {
  const targets = views.flatMap(({ end, reached }) => (reached && end !== null ? [end] : []));
  if (targets.length === 0) return Math.max(0, ...views.map(({ horizon }) => horizon));
  return Math.max(...targets, ...views.map(({ end, lastAnswered }) => (end === null ? lastAnswered : end)));
}

/** Answers to packets with the full TTL; null if none were sent. */
export function fullTtlOf({ packets }: Trace, format: HopFormat, answersOthers: boolean): FullTtl | null {
  const sent = packets.filter(isFull);
  if (sent.length === 0) return null;
  const rtts = sent.map((packet) => (packet.answer?.kind === 'target' ? roundedRtt(packet) : null));
  const isLimited = answersOthers && rtts.every((rtt) => rtt === null);
  return { rtts, icmp: icmpOf(answersTo(sent), format), ...(isLimited && { answersOthers: true }) };
}

type Ranked = readonly (readonly [address: string, packets: readonly TracePacket[]])[];

/** The addresses that answered, each with the packets that it answered; the one with most answers is first. */
function respondersOf(packets: readonly TracePacket[]): Ranked {
  const answered = packets.filter(({ answer }) => answer !== null);
  const byAddress = Map.groupBy(answered, ({ answer }) => answer!.from);
  return [...byAddress].toSorted(([, a], [, b]) => b.length - a.length);
}

function rankOf(answer: TracePacket['answer'], ranked: Ranked): number | null {
  return answer === null ? null : ranked.findIndex(([address]) => address === answer.from);
}

/**
 * @param packets packets of the hop; the answers of other hops to them are null
 * @param all the same packets with all answers
 */
function hopOf(
  hop: number,
  packets: readonly TracePacket[],
  all: readonly TracePacket[],
  ranked: Ranked,
  format: HopFormat,
): Hop {
  const listed = ranked.slice(0, MAX_RESPONDERS);
  const responders = listed.map(([address, answers]) => ({
    ...who(address, format),
    rtts: rttsOf(answers),
    ...(format.nextMtus?.has(address) === true && { nextMtu: format.nextMtus.get(address)! }),
  }));
  const first = ranked[0]?.[0];
  const answers = answersTo(all);
  return {
    hop,
    ...(first === undefined ? noResponder : who(first, format)),
    latency: median(packets.flatMap((packet) => rttOf(packet) ?? [])),
    rtts: rttsOf(packets),
    responders,
    ...(format.hasReplies === true
      ? repliesOf(
          all,
          ranked.map(([address]) => address),
          format,
        )
      : {}),
    mpls: answers.find(({ error }) => error !== null && error.mpls.length > 0)?.error?.mpls.slice() ?? [],
    icmp: icmpOf(answers, format),
  };
}

function statsOf(packets: readonly TracePacket[]): HopStats {
  const rtts = packets.flatMap((packet) => rttOf(packet) ?? []);
  const [sent, received] = [packets.length, rtts.length];
  const { rttStdDev, ...statistics } = rttStatistics(rtts);
  // Standard deviation of the sample (n - 1); `rttStatistics` divides by n.
  const ofSample = rttStdDev === null || received < 2 ? rttStdDev : rttStdDev * Math.sqrt(received / (received - 1));
  const loss = sent === 0 ? null : roundMs(1 - received / sent);
  return { sent, received, loss, ...statistics, rttStdDev: ofSample === null ? null : roundMs(ofSample) };
}

/**
 * The first ICMP error with a mark (`icmpMark`) that is not time exceeded, such as a router's refusal, and the number
 * of packets that got one with this mark from the same sender.
 */
function icmpOf(answers: readonly TraceAnswer[], { family, protocol, publicIp }: HopFormat): Hop['icmp'] {
  const errors = answers.flatMap(({ kind, error, from }) => {
    const mark = kind === 'expired' || error === null ? null : icmpMark(family, error, kind === 'target', protocol);
    return error === null || mark === null ? [] : [{ type: error.type, code: error.code, mark, from: publicIp(from) }];
  });
  const [first] = errors;
  if (first === undefined) return null;
  return { ...first, count: errors.filter(({ mark, from }) => mark === first.mark && from === first.from).length };
}

const noResponder = { ip: null, private: false, ...NAMELESS, asn: null, asName: null };

function who(address: string, format: HopFormat): typeof noResponder | Pick<Hop, keyof typeof noResponder> {
  const ip = format.publicIp(address);
  const name = ip === null ? NAMELESS : format.name(address);
  return { ip, private: format.isPrivate(address), ...name, asn: null, asName: null };
}

function answersTo(packets: readonly TracePacket[]): TraceAnswer[] {
  return packets.flatMap(({ answer }) => (answer === null ? [] : [answer]));
}

function rttsOf(packets: readonly TracePacket[]): (number | null)[] {
  return packets.map(roundedRtt);
}

function roundedRtt(packet: TracePacket): number | null {
  const rtt = rttOf(packet);
  return rtt === null ? null : roundMs(rtt);
}

/** The median; null for an empty list. */
export function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = sorted.length / 2;
  return roundMs((sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2);
}

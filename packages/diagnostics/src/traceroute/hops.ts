import { roundMs, type Family } from '@vantage/contract';

import { icmpMark } from '../sockets/icmp-failure.ts';
import { MAX_RESPONDERS, type FlowPath, type Hop } from './result-fields.ts';
import { NAMELESS, type HopName } from './hop-names.ts';
import type { Trace } from './pursue.ts';
import { stopReasonOf } from './stop-reason.ts';
import { rttOf, type TraceAnswer, type TracePacket } from './trace.ts';

export interface HopDress {
  readonly family: Family;
  readonly queries: number;
  readonly maxHops: number;
  /** The address as it may be shown; null where it may not. */
  readonly shown: (address: string) => string | null;
  readonly isPrivate: (address: string) => boolean;
  /** The PTR name, as far as it is known by now. */
  readonly name: (address: string) => HopName;
}

/** What a result shows of the packets: the hops, and of each flow which responder answered which packet. */
export interface ShownPath {
  readonly hops: Hop[];
  readonly flows: FlowPath[];
}

/** The hops of a trace as a result shows them: silent ones keep their place, none is renumbered. */
export function shownPath(trace: Trace, dress: HopDress): ShownPath {
  const kept = keptPackets(trace, dress.queries);
  const firstUnsent = kept.findIndex((packets) => packets.length === 0);
  const sent = firstUnsent === -1 ? kept : kept.slice(0, firstUnsent);
  // One that is still awaited keeps its place before others, but is not known to be on the path after all of them.
  const settled = sent.map((packets) => packets.filter(({ answer, isGivenUp }) => answer !== null || isGivenUp));
  const shown = settled.slice(0, settled.findLastIndex((packets) => packets.length > 0) + 1);
  const ranked = shown.map(respondersOf);
  return {
    hops: shown.map((packets, index) => hopOf(index + 1, packets, ranked[index]!, dress)),
    flows: trace.views.map((view, flow) => ({
      reached: view.reached,
      stopReason: stopReasonOf(view, trace, dress.maxHops),
      hops: shown.map((packets, index) =>
        packets.filter((packet) => packet.flow === flow).map(({ answer }) => rankOf(answer, ranked[index]!)),
      ),
    })),
  };
}

/** For each TTL from 1 on the packets that its hop shows, in the order sent. */
function keptPackets({ packets, views }: Trace, queries: number): TracePacket[][] {
  const last = Math.max(0, ...views.map(({ horizon }) => horizon));
  return Array.from({ length: last }, (_, index) => {
    const ttl = index + 1;
    const kept = views.flatMap(({ end, horizon }, flow) => {
      const own = packets.filter((packet) => packet.flow === flow && packet.ttl === ttl);
      if (ttl > horizon) return [];
      return ttl === end ? atEnd(packets, flow, end, own, queries) : own;
    });
    return kept.toSorted((a, b) => packets.indexOf(a) - packets.indexOf(b));
  });
}

type Ranked = readonly (readonly [address: string, packets: readonly TracePacket[]])[];

/** Whoever answered most comes first. */
function respondersOf(packets: readonly TracePacket[]): Ranked {
  const answered = packets.filter(({ answer }) => answer !== null);
  const byAddress = Map.groupBy(answered, ({ answer }) => answer!.from);
  return [...byAddress].toSorted(([, a], [, b]) => b.length - a.length);
}

function rankOf(answer: TracePacket['answer'], ranked: Ranked): number | null {
  return answer === null ? null : ranked.findIndex(([address]) => address === answer.from);
}

/** What went further by its TTL and came to the same end stands in for what was not sent or not answered at the end. */
function atEnd(
  packets: readonly TracePacket[],
  flow: number,
  end: number,
  own: readonly TracePacket[],
  queries: number,
): TracePacket[] {
  const beyond = packets.filter(({ flow: of, ttl, answer }) => of === flow && ttl > end && answer !== null);
  const answered = [...own.filter(({ answer }) => answer !== null), ...beyond].slice(0, queries);
  const silent = own.filter(({ answer }) => answer === null);
  return [...answered, ...silent].slice(0, queries);
}

function hopOf(hop: number, packets: readonly TracePacket[], ranked: Ranked, dress: HopDress): Hop {
  const listed = ranked.slice(0, MAX_RESPONDERS);
  const responders = listed.map(([address, answers]) => ({ ...who(address, dress), rtts: rttsOf(answers) }));
  const first = ranked[0]?.[0];
  const answers = packets.flatMap(({ answer }) => (answer === null ? [] : [answer]));
  return {
    hop,
    ...(first === undefined ? nobody : who(first, dress)),
    latency: median(packets.flatMap((packet) => rttOf(packet) ?? [])),
    rtts: rttsOf(packets),
    responders,
    mpls: answers.find(({ error }) => error !== null && error.mpls.length > 0)?.error?.mpls.slice() ?? [],
    icmp: icmpOf(answers, dress),
  };
}

/** The first error among them that is more than a TTL that ran out. */
function icmpOf(answers: readonly TraceAnswer[], { family, shown }: HopDress): Hop['icmp'] {
  const end = answers.find(({ kind, error }) => kind !== 'expired' && error !== null);
  if (end === undefined || end.error === null) return null;
  const { type, code } = end.error;
  const mark = icmpMark(family, end.error, end.kind === 'target');
  return mark === null ? null : { type, code, mark, from: shown(end.from) };
}

const nobody = { ip: null, private: false, ...NAMELESS, asn: null, asName: null };

function who(address: string, dress: HopDress): typeof nobody | Pick<Hop, keyof typeof nobody> {
  const ip = dress.shown(address);
  const name = ip === null ? NAMELESS : dress.name(address);
  return { ip, private: dress.isPrivate(address), ...name, asn: null, asName: null };
}

function rttsOf(packets: readonly TracePacket[]): (number | null)[] {
  return packets.map((packet) => {
    const rtt = rttOf(packet);
    return rtt === null ? null : roundMs(rtt);
  });
}

/** The middle value; of an even number the mean of the two in the middle. Null of none. */
export function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = sorted.length / 2;
  return roundMs((sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2);
}

import { roundMs, type Family } from '@vantage/contract';

import { icmpMark } from '../sockets/icmp-failure.ts';
import { MAX_RESPONDERS, type Hop } from './contract.ts';
import { NAMELESS, type HopName } from './hop-names.ts';
import type { Trace } from './pursue.ts';
import { rttOf, type TracePacket } from './trace.ts';

export interface HopDress {
  readonly family: Family;
  readonly queries: number;
  /** The address as it may be shown; null where it may not. */
  readonly shown: (address: string) => string | null;
  readonly isPrivate: (address: string) => boolean;
  /** The PTR name, as far as it is known by now. */
  readonly name: (address: string) => HopName;
}

/** The hops of a trace as a result shows them: silent ones keep their place, none is renumbered. */
export function hopsOf({ packets, views }: Trace, dress: HopDress): Hop[] {
  const last = Math.max(0, ...views.map(({ horizon }) => horizon));
  const byHop = new Map<number, TracePacket[]>();
  for (const [flow, { end, horizon }] of views.entries()) {
    for (let ttl = 1; ttl <= horizon; ttl += 1) {
      const own = packets.filter((packet) => packet.flow === flow && packet.ttl === ttl);
      const kept = ttl === end ? atEnd(packets, flow, end, own, dress.queries) : own;
      byHop.set(ttl, [...(byHop.get(ttl) ?? []), ...kept]);
    }
  }
  const hops = Array.from({ length: last }, (_, index) => hopOf(index + 1, byHop.get(index + 1) ?? [], dress));
  const firstUnsent = hops.findIndex(({ hop }) => (byHop.get(hop) ?? []).length === 0);
  const sent = firstUnsent === -1 ? hops : hops.slice(0, firstUnsent);
  // One that is still awaited keeps its place before others, but is not known to be on the path after all of them.
  return sent.slice(0, sent.findLastIndex(({ rtts }) => rtts.length > 0) + 1);
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

function hopOf(hop: number, packets: readonly TracePacket[], dress: HopDress): Hop {
  const settled = packets.filter(({ answer, isGivenUp }) => answer !== null || isGivenUp);
  const byAddress = Map.groupBy(
    settled.filter(({ answer }) => answer !== null),
    ({ answer }) => answer!.from,
  );
  const ranked = [...byAddress].toSorted(([, a], [, b]) => b.length - a.length).slice(0, MAX_RESPONDERS);
  const responders = ranked.map(([address, answers]) => ({ ...who(address, dress), rtts: rttsOf(answers) }));
  const first = ranked[0]?.[0];
  const answers = settled.flatMap(({ answer }) => (answer === null ? [] : [answer]));
  const end = answers.find(({ kind, error }) => kind !== 'expired' && error !== null);
  const ended = end?.error;
  const mark = ended === undefined || ended === null ? null : icmpMark(dress.family, ended, end?.kind === 'target');
  return {
    hop,
    ...(first === undefined ? nobody : who(first, dress)),
    latency: median(settled.flatMap((packet) => rttOf(packet) ?? [])),
    rtts: rttsOf(settled),
    responders,
    mpls: answers.find(({ error }) => error !== null && error.mpls.length > 0)?.error?.mpls.slice() ?? [],
    icmp: mark === null ? null : { type: ended!.type, code: ended!.code, mark },
  };
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

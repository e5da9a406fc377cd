import { roundMs, type ParamsOf, type Target } from '@vantage/contract';

import type { DiagnosticContext, Outcome } from '../../diagnostic.ts';
import { rttStatistics } from '../../shared/rtt-statistics.ts';
import { icmpNotice } from '../../sockets/icmp/icmp-notice.ts';
import { publicIp, worstClock } from '../../sockets/provide-packets.ts';
import { MAX_DUPLICATE_ROWS, type ping } from './contract.ts';
import { isInTime, isLeftOut, type SessionState, type SentPacket } from './sent-packets.ts';
import { stalledField } from '../../sockets/clock/stalled-field.ts';
import { addressFields } from '../../shared/address-fields.ts';

type Ping = typeof ping;
export type Fields = Omit<Outcome<Ping>, 'result' | 'error'>;
type Row = NonNullable<Fields['packets']>[number];

/**
 * @param target null if the name was not admitted
 * @param isAwaited true for a packet that may still be answered: it is counted as sent, and has no row yet
 */
export function pingFields(
  state: SessionState,
  target: Target | null,
  { size, ttl, dscp }: ParamsOf<Ping>['options'],
  context: DiagnosticContext<Ping>,
  isAwaited: (packet: SentPacket) => boolean = () => false,
): Fields {
  const sent = state.packets.filter((packet) => !isLeftOut(packet));
  const packetsLeftOut = state.packets.filter(
    (packet) => (packet.isDoubtful || packet.isUnsent) && isLeftOut(packet),
  ).length;
  const settled = sent.filter((packet) => !isAwaited(packet));
  const rows = target === null ? [] : settled.flatMap((packet) => packetRows(packet, target, context));
  const answers = rows.filter((row) => !row.duplicate);
  const duplicates = rows.filter((row) => row.duplicate);
  const rtts = answers.flatMap(({ rtt }) => (rtt === null ? [] : [rtt]));
  const statistics = rttStatistics(rtts);
  const late = sent.flatMap((packet) => packet.replies.filter((reply) => !isInTime(packet, reply)));
  const unlisted = (kind: 'duplicates' | 'late'): number =>
    settled.reduce((sum, packet) => sum + packet.unlisted[kind], 0);
  const clocks = state.packets.flatMap((packet) => packet.replies.map(({ clock }) => clock));
  const listed = new Set([...answers, ...duplicates.slice(0, MAX_DUPLICATE_ROWS)]);
  return {
    rt: statistics.rttAvg,
    ...(target === null ? { resolvedIp: null } : addressFields(target)),
    ...statistics,
    size,
    ...(ttl === undefined ? {} : { ttl }),
    ...(dscp === undefined ? {} : { dscp }),
    ...stalledField(state.stalledMs),
    ...(packetsLeftOut > 0 ? { packetsLeftOut } : {}),
    ...(state.isAbandoned ? { packetsEnded: 'stream_closed' as const } : {}),
    pingCount: sent.length,
    pingCompleted: rtts.length,
    loss: answers.length === 0 ? null : roundMs(1 - rtts.length / answers.length),
    packets: rows.filter((row) => listed.has(row)),
    clock: worstClock(clocks),
    anomalies: {
      duplicates: duplicates.length + unlisted('duplicates'),
      late: late.length + unlisted('late'),
      reordered: state.reordered,
      corrupted: state.corrupted,
    },
  };
}

function packetRows(packet: SentPacket, target: Target, context: DiagnosticContext<Ping>): Row[] {
  const { seq, sentMs, icmp } = packet;
  const notice = icmp === null ? {} : { icmp: icmpNotice(icmp, target, context, 'icmp').notice };
  const [answer, ...duplicates] = packet.replies.filter((reply) => isInTime(packet, reply));
  if (sentMs === null || answer === undefined) {
    const ttl = icmp?.hopLimit ?? null;
    return [{ seq, rtt: null, ttl, from: notice.icmp?.from ?? null, duplicate: false, ...notice }];
  }
  return [answer, ...duplicates].map((reply, index) => ({
    seq,
    // The difference may be slightly negative, because the resolution of the clocks is limited.
    rtt: roundMs(Math.max(0, reply.receivedMs - sentMs)),
    ttl: reply.hopLimit,
    from: publicIp(reply.from, target, context),
    duplicate: index > 0,
    ...(index === 0 ? notice : {}),
  }));
}

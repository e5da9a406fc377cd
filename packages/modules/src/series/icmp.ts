import { addressSeries } from './address.ts';
import { gauge, phases, seconds, type Sample } from './families.ts';
import { reading, type Reading, type SparseResultOf } from './result.ts';

type Ping = SparseResultOf<'ping'>;

/** One reply makes a success: lost packets are only counted, in a series. */
export function icmpReading(result: Ping): Reading {
  const answered = (result.pingCompleted ?? 0) > 0;
  return reading([!answered && (result.error?.message ?? 'No packet was answered in time.')]);
}

export function icmpSeries(result: Ping, resolveMs: number | undefined): readonly Sample[] {
  const replies = (result.packets ?? []).filter(({ rtt, duplicate }) => rtt !== null && !duplicate);
  const [first] = replies;
  const rtts = replies.map(({ rtt }) => rtt!);
  const sent = result.pingCount ?? 0;
  return [
    ...addressSeries(result.resolvedIp, resolveMs),
    ...phases('probe_icmp_duration_seconds', {
      ...(resolveMs === undefined ? {} : { resolve: resolveMs }),
      // Not measured: an agent usually has its sockets open already.
      setup: 0,
      rtt: result.rttAvg ?? 0,
    }),
    ...(typeof first?.ttl === 'number' ? [gauge('probe_icmp_reply_hop_limit', first.ttl)] : []),
    gauge('vantage_probe_packets_sent', sent),
    gauge('vantage_probe_packets_lost', sent - (result.pingCompleted ?? 0)),
    ...(typeof result.jitter === 'number' ? [gauge('vantage_probe_jitter_seconds', seconds(result.jitter))] : []),
    ...rttSummary(rtts),
  ];
}

const QUANTILES = [0, 0.5, 0.9, 1];

/** Summary of the RTTs of the replies: each quantile is the RTT of one packet (nearest rank). */
export function rttSummary(rttsMs: readonly number[]): readonly Sample[] {
  if (rttsMs.length === 0) return [];
  const sorted = rttsMs.toSorted((one, other) => one - other);
  const family = 'vantage_probe_rtt_seconds';
  return [
    ...QUANTILES.map((quantile) =>
      gauge(family, seconds(sorted[Math.max(0, Math.ceil(quantile * sorted.length) - 1)]), {
        quantile: String(quantile),
      }),
    ),
    { family, suffix: '_sum', labels: {}, value: seconds(sorted.reduce((sum, rtt) => sum + rtt, 0)) },
    { family, suffix: '_count', labels: {}, value: sorted.length },
  ];
}

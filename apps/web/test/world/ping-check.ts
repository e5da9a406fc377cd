import { distances } from './probes.ts';
import { check, eachProbe, failure, final, round, wobble } from './results.ts';

export const pingCheck = check('ping_AAAAAAAAAAAAAAAAA', 'ping', 'www.example.com', eachProbe(pingOf));

function pingOf(id: string, index: number): Record<string, unknown> {
  if (id === 'gru-1') {
    return {
      ...final(index, null, { result: 'error', resolvedIp: null, startedAt: null }),
      error: failure('probe_offline', 'dispatch', 'probe', 'The probe was offline when the check was created.'),
    };
  }
  const isDark = id === 'jnb-1';
  const packets = Array.from({ length: 8 }, (_, seq) => {
    const isLost = isDark || (id === 'bom-1' && [2, 5, 6].includes(seq));
    const spread = id === 'syd-1' ? 40 : 3;
    const rtt = isLost ? null : round(distances[index]! + wobble(index * 31 + seq) * spread);
    return { seq: seq + 1, rtt, ttl: isLost ? null : 54, from: isLost ? null : '192.0.2.80', duplicate: false };
  });
  const rtts = packets.flatMap(({ rtt }) => (rtt === null ? [] : [rtt]));
  const average = rtts.length === 0 ? null : round(rtts.reduce((sum, rtt) => sum + rtt, 0) / rtts.length);
  return final(index, average, {
    ...(isDark
      ? { result: 'timeout', error: failure('timed_out', 'response', 'network', 'No reply came in time.') }
      : {}),
    rttAvg: average,
    rttMin: isDark ? null : Math.min(...rtts),
    rttMax: isDark ? null : Math.max(...rtts),
    rttStdDev: isDark ? null : 1.2,
    jitter: isDark ? null : round(1 + wobble(index) * 2),
    pingCount: 8,
    pingCompleted: rtts.length,
    loss: round(1 - rtts.length / 8),
    packets,
    clock: 'kernel',
    anomalies: { duplicates: 0, late: 0, reordered: 0, corrupted: 0 },
  });
}

import { distances } from './probes.ts';
import { check, eachProbe, failure, final, round, wobble } from './results.ts';

export const tracerouteCheck = check('trace_AAAAAAAAAAAAAAAA', 'traceroute', 'www.example.com', eachProbe(traceOf));

/**
 * Converging paths: own network, one of three carriers, the exchange, the target; those of `gru-1` and `nyc-1` are
 * incomplete.
 */
function traceOf(id: string, index: number): Record<string, unknown> {
  const rtt = distances[index]!;
  const carrier = index < 5 ? 0 : index < 8 ? 1 : 2;
  const own = `203.0.113.${10 + index * 4}`;
  const isBroken = id === 'gru-1' || id === 'nyc-1';
  const routers: readonly (readonly [string | null, string | null, string | null])[] = [
    [own, `AS${64_496 + index}`, `Example Network ${index + 1}`],
    ...(id === 'bom-1'
      ? [[null, null, null] as const]
      : [[`203.0.113.${11 + index * 4}`, `AS${64_496 + index}`, `Example Network ${index + 1}`] as const]),
    [`198.51.100.${20 + carrier * 40}`, `AS${65_536 + carrier}`, `Example Carrier ${['One', 'Two', 'Three'][carrier]}`],
    [
      `198.51.100.${21 + carrier * 40 + (index % 2)}`,
      `AS${65_536 + carrier}`,
      `Example Carrier ${['One', 'Two', 'Three'][carrier]}`,
    ],
    ...(isBroken
      ? []
      : [
          ['198.51.100.200', 'AS65540', 'Example Exchange'] as const,
          ['192.0.2.1', 'AS64510', 'Example Delivery'] as const,
          ['192.0.2.80', 'AS64510', 'Example Delivery'] as const,
        ]),
    ...(isBroken ? [[null, null, null] as const, [null, null, null] as const, [null, null, null] as const] : []),
  ];
  const hops = routers.map(([ip, asn, asName], hop) => {
    const latency = ip === null ? null : round(0.4 + (rtt * (hop + 1)) / routers.length);
    const rtts = [0, 1, 2].map((n) => (latency === null ? null : round(latency + wobble(n + hop + index))));
    const who = { ip, private: false, hostname: ip === '192.0.2.80' ? 'www.example.com' : null };
    const full = { ...who, hostnameVerified: null, asn, asName };
    return {
      hop: hop + 1,
      ...full,
      latency,
      rtts,
      mpls: [],
      icmp: null,
      responders: ip === null ? [] : [{ ...full, rtts }],
    };
  });
  return final(index, isBroken ? null : rtt, {
    ...(isBroken
      ? { result: 'timeout', error: failure('timed_out', 'response', 'network', 'The target did not answer.') }
      : {}),
    hops,
    reached: !isBroken,
    protocol: 'icmp',
    pathMtu: 1500,
    clock: 'kernel',
    loop: null,
  });
}

export const TRACED_TARGET = '203.0.113.9';

/** A traceroute result of sixteen flows over these hops, to `TRACED_TARGET`; `*` is a silent one. */
export function tracedResult(routers: readonly string[], reached: boolean): object {
  const hops = routers.map((ip, index) => {
    const who = {
      ip: ip === '*' ? null : ip,
      private: false,
      hostname: null,
      hostnameVerified: null,
      asn: null,
      asName: null,
    };
    const rtts = Array.from({ length: 16 }, () => (ip === '*' ? null : index + 1));
    const responders = ip === '*' ? [] : [{ ...who, rtts }];
    return { hop: index + 1, ...who, latency: ip === '*' ? null : index + 1, rtts, responders, mpls: [], icmp: null };
  });
  const stopReason = reached ? 'completed' : 'gap_limit';
  const flow = { reached, stopReason, hops: routers.map((ip) => [ip === '*' ? null : 0]) };
  const failure = { code: 'timed_out', phase: 'response', source: 'network', message: 'The target did not answer.' };
  return {
    result: reached ? 'success' : 'timeout',
    rt: reached ? 9 : null,
    resolvedIp: TRACED_TARGET,
    error: reached ? null : failure,
    startedAt: null,
    finishedAt: new Date().toISOString(),
    hops,
    flows: Array.from({ length: 16 }, () => flow),
    reached,
    stopReason,
    protocol: 'icmp',
    pathMtu: null,
    loop: null,
    clock: 'kernel',
    echo: null,
    fullTtl: reached ? null : { rtts: Array.from({ length: 6 }, () => null), icmp: null },
    mtuBlackHole: null,
  };
}

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

/** A traceroute result whose flows take these paths in turn, which differ at single hops. */
export function balancedResult(...ways: readonly (readonly string[])[]): object {
  const plain = tracedResult(ways[0]!, true) as { readonly hops: readonly Readonly<Record<string, unknown>>[] };
  const hops = plain.hops.map((hop, index) => {
    const ips = [...new Set(ways.map((way) => way[index]!))];
    return { ...hop, responders: ips.map((ip) => ({ ...(hop['responders'] as readonly object[])[0], ip, rtts: [1] })) };
  });
  const indexOf = (way: readonly string[], hop: number): number =>
    hops[hop]!.responders.findIndex((one) => (one as unknown as { readonly ip: string }).ip === way[hop]);
  const flows = Array.from({ length: 16 }, (_, flow) => {
    const way = ways[flow % ways.length]!;
    return { reached: true, stopReason: 'completed', hops: way.map((_ip, hop) => [indexOf(way, hop)]) };
  });
  return { ...plain, hops, flows };
}

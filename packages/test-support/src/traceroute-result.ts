/**
 * A fictitious, typical traceroute result: names for most routers, some silent, some with two responders or labels.
 *
 * @param seed results with the same seed are equal
 */
export function tracerouteResult(seed: number, hopCount = 16): Readonly<Record<string, unknown>> {
  const random = seeded(seed);
  const whole = (below: number): number => Math.floor(random() * below);
  let baseMs = 0.3;
  const hops = Array.from({ length: hopCount }, (_, index) => {
    baseMs += random() * 8;
    const isSilent = random() < 0.12;
    const rtts = [0, 1, 2].map(() => (isSilent ? null : Math.round((baseMs + random() * 2) * 1_000) / 1_000));
    const ip = isSilent ? null : `${192 + whole(31)}.${whole(256)}.${whole(256)}.${whole(250)}`;
    const hostname =
      isSilent || random() < 0.3 ? null : `ae-${whole(30)}-${whole(4_000)}.${pick(cities, random)}${index}.example.net`;
    const [asn, asName] = networks[Math.floor((index / hopCount) * networks.length)]!;
    const who = {
      ip,
      private: false,
      hostname,
      hostnameVerified: hostname === null ? null : true,
      asn: isSilent ? null : asn,
      asName: isSilent ? null : asName,
    };
    const hasTwo = !isSilent && random() < 0.15;
    const first = { ...who, rtts: hasTwo ? rtts.slice(0, 2) : rtts };
    const second = { ...who, ip: ip?.replace(/\d+$/, '251') ?? null, rtts: rtts.slice(2) };
    return {
      hop: index + 1,
      ...who,
      latency: rtts.toSorted((a, b) => Number(a) - Number(b))[1] ?? null,
      rtts,
      responders: isSilent ? [] : hasTwo ? [first, second] : [first],
      mpls: random() < 0.2 ? [{ label: whole(1e6), trafficClass: 0, bottomOfStack: true, ttl: 1 }] : [],
      icmp: null,
    };
  });
  const answers = hops.map(({ rtts }) => rtts.map((rtt) => (rtt === null ? null : 0)));
  return {
    result: 'success',
    rt: Math.round(baseMs * 1_000) / 1_000,
    resolvedIp: '127.0.0.1',
    error: null,
    startedAt: '2026-11-22T09:31:51.376Z',
    finishedAt: '2026-11-22T09:31:58.385Z',
    protocol: 'icmp',
    hops,
    flows: [{ reached: true, stopReason: 'completed', hops: answers }],
    stopReason: 'completed',
    fullTtl: null,
    pathMtu: 1_500,
    mtuBlackHole: null,
    clock: 'kernel',
    reached: true,
    loop: null,
    echo: { sent: 5, received: 5 },
  };
}

const cities = ['fra', 'ams', 'lon', 'nyc', 'par', 'sto'] as const;
const networks = [
  ['AS64500', 'Access Example GmbH'],
  ['AS64501', 'Transit Example AG'],
  ['AS64502', 'Backbone Example AB'],
  ['AS64503', 'Content Example LLC'],
] as const;

function pick<T>(items: readonly T[], random: () => number): T {
  return items[Math.floor(random() * items.length)]!;
}

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

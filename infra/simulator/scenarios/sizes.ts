import { router, routers, type Scenario } from '../scenario.ts';

const small = [1_499, 1_492, 1_480, 1_400, 1_300, 1_280].map((mtu) => ({
  name: `pm${mtu}`,
  path: [...routers(3), router({ mtu }), ...routers(2)],
}));
const smallest = [1_000, 576].map((mtu) => ({
  name: `pm${mtu}`,
  path: [...routers(3), router({ mtu }), ...routers(2)],
  families: [4] as const,
}));

export const sizes: readonly Scenario[] = [
  ...small,
  ...smallest,
  { name: 'pm1400second', path: [router(), router({ mtu: 1_400 }), ...routers(3)] },
  { name: 'pm1400last', path: routers(4), target: { mtu: 1_400 } },
  { name: 'pm2', path: [...routers(2), router({ mtu: 1_460 }), router(), router({ mtu: 1_420 }), router()] },
  {
    name: 'pm5',
    path: [router(), ...[1_492, 1_480, 1_460, 1_420, 1_400].map((mtu) => router({ mtu })), ...routers(2)],
  },
  {
    name: 'pm1400ne',
    path: [...routers(3), router({ mtu: 1_400 }), ...routers(2)],
    target: { echo: 'none' },
    checks: ['udp', 'tcp'],
  },
  { name: 'pm1400far', path: [...routers(2), router({ delayMs: 600 }), router({ mtu: 1_400 }), router()] },
  { name: 'pm1500far', path: [...routers(2), router({ delayMs: 600 }), ...routers(2)] },
  ...[1_300, 1_400, 1_480].map((mtu) => ({
    name: `pmbh${mtu}`,
    path: [...routers(3), router({ mtu, isBlackHole: true }), ...routers(2)],
    truth: {
      finds: [{ code: 'path_mtu_black_hole' as const }],
      verdicts: ['degraded' as const],
      pathMtu: mtu,
      mtuBlackHole: mtu + 1,
      fullSize: { bytes: 1_500, arrives: false },
    },
  })),
  {
    // A filter drops only large echo requests.
    name: 'pmfilter',
    path: [...routers(3), router({ mtu: 1_000, isBlackHole: true, mtuOf: ['icmp'] }), ...routers(2)],
    checks: ['udp', 'tcp'],
    families: [4],
    truth: {
      finds: [{ code: 'path_mtu_black_hole' }],
      verdicts: ['up'],
      pathMtu: 1_000,
      mtuBlackHole: 1_001,
      fullSize: { bytes: 1_500, arrives: true },
    },
  },
  ...(['icmp', 'udp'] as const).map((check) => ({
    // Large answers vanish on their way back.
    name: `pmback${check}`,
    path: [...routers(3), router({ mtuBack: 1_300 }), ...routers(2)],
    checks: [check],
    truth: {
      finds: [{ code: 'path_mtu_black_hole' as const }],
      verdicts: [check === 'icmp' ? ('degraded' as const) : ('up' as const)],
      pathMtu: 1_300,
      mtuBlackHole: 1_301,
      ...(check === 'udp' ? { fullSize: { bytes: 1_500, arrives: true } } : {}),
    },
  })),
  ...(['udp', 'tcp'] as const).map((protocol) => ({
    // Only large packets of this protocol vanish.
    name: `pmhole${protocol}`,
    path: [...routers(3), router({ mtu: 1_400, isBlackHole: true, mtuOf: [protocol] }), ...routers(2)],
    checks: [protocol],
    truth: {
      finds: [{ code: 'path_mtu_black_hole' as const }],
      verdicts: [protocol === 'udp' ? ('degraded' as const) : ('up' as const)],
      pathMtu: 1_500,
      fullSize: { bytes: 1_500, arrives: false },
    },
  })),
  {
    // Datagrams are refused as too big, echo requests are not.
    name: 'pmreport',
    path: [...routers(3), router({ mtu: 1_400, mtuOf: ['udp'] }), ...routers(2)],
    checks: ['udp'],
    truth: { pathMtu: 1_400, fullSize: { bytes: 1_400, arrives: true } },
  },
  ...[0, 115, 240, 390].map((delayMs) => ({
    // A router refuses packets, and smaller ones vanish beyond it.
    name: `pmbhbeyond${delayMs}`,
    path: [router(), router({ mtu: 1_400 }), router({ delayMs }), router({ mtu: 1_300, isBlackHole: true }), router()],
    truth: {
      finds: [{ code: 'path_mtu_black_hole' as const }],
      verdicts: ['degraded' as const],
      pathMtu: 1_300,
      mtuBlackHole: 1_301,
      // Far away, on a busy machine, time may not suffice for the proof.
      ...(delayMs > 115 ? {} : { fullSize: { bytes: 1_400, arrives: false } }),
    },
  })),
  {
    // Packets vanish before a router that refuses smaller ones.
    name: 'pmbhbefore',
    path: [
      router(),
      router({ mtu: 1_450, isBlackHole: true }),
      router({ delayMs: 40 }),
      router({ mtu: 1_400 }),
      router(),
    ],
    truth: { finds: [{ code: 'path_mtu_black_hole' }], verdicts: ['degraded'], pathMtu: 1_400, mtuBlackHole: 1_451 },
  },
  {
    name: 'pmsilent',
    // The router before the small link is silent, which is a black hole, too.
    path: [...routers(2), { silent: true }, router({ mtu: 1_400 }), ...routers(2)],
    truth: { finds: [{ code: 'path_mtu_black_hole' }], verdicts: ['degraded'], pathMtu: 1_400, mtuBlackHole: 1_401 },
  },
  {
    name: 'pmword0',
    path: [...routers(3), router({ mtu: 1_400, mtuWord: 0 }), ...routers(2)],
    truth: { pathMtu: null },
    families: [4],
  },
  {
    name: 'pmwordlarge',
    path: [...routers(3), router({ mtu: 1_400, mtuWord: 9_000 }), ...routers(2)],
    truth: { pathMtu: null },
  },
  {
    name: 'pmwordsame',
    path: [...routers(3), router({ mtu: 1_400, mtuWord: 1_500 }), ...routers(2)],
    truth: { pathMtu: null },
  },
  {
    name: 'pm1400quote8',
    path: [...routers(2), router({ quote: 28 }), router({ mtu: 1_400 }), router()],
    families: [4],
  },
];

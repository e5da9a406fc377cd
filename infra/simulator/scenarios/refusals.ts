import { router, routers, type SimulatedRefusal, type Scenario, type Truth } from '../scenario.ts';

const unreachable = (code: number, more: Partial<SimulatedRefusal> = {}): SimulatedRefusal => ({
  4: [3, code],
  6: [1, code % 8],
  ...more,
});
const HOST: Pick<SimulatedRefusal, 4 | 6> = { 4: [3, 1], 6: [1, 3] };
const down = [{ code: 'down_everywhere' }] as const;

const refusedAt = (hop: number): Truth => ({
  finds: [{ code: 'path_refused', hop }, ...down],
  verdicts: ['down'],
  pathMtu: null,
  pingFinds: down,
  pingVerdicts: ['down'],
});

/**
 * Every code of “destination unreachable” in RFC 792, RFC 1122 and RFC 1812 except that for large packets; codes 0 to 7
 * for ICMPv6.
 */
const byRouter = [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map((code) => ({
  name: `refused${code}`,
  path: [...routers(3), router({ refuse: unreachable(code) }), ...routers(2)],
  truth: refusedAt(4),
}));

const byPosition: readonly Scenario[] = [
  { name: 'refusedfirst', path: [router({ refuse: HOST }), ...routers(3)], truth: refusedAt(1) },
  { name: 'refusedlast', path: [...routers(5), router({ refuse: HOST })], truth: refusedAt(6) },
  {
    name: 'refusedbehindsilent',
    path: [...routers(2), ...routers(2, { silent: true }), router({ refuse: HOST }), ...routers(2)],
    truth: refusedAt(5),
  },
  {
    name: 'refusedslow',
    path: [...routers(2), router({ delayMs: 150 }), router({ refuse: HOST }), ...routers(2)],
    truth: refusedAt(4),
  },
];

const byTarget = [0, 1, 2, 9, 10, 13].map((code) => ({
  name: `targetrefuses${code}`,
  path: routers(4),
  target: { refuse: unreachable(code) },
  truth: {
    may: ['path_refused', 'down_everywhere'],
    verdicts: ['up', 'down'],
    pathMtu: null,
    pingFinds: down,
    pingVerdicts: ['down'],
  } satisfies Truth,
}));

/** An error to some packets only, while all others are answered. */
const passing = (name: string, packets: readonly number[], more: Partial<Scenario> = {}): Scenario => ({
  name,
  path: [...routers(2), router({ refuse: { ...HOST, packets } }), ...routers(3)],
  truth: {
    may: [{ code: 'path_refused', hop: 3 }, 'loss_at_target', 'path_loss', 'rate_limited_hop'],
    verdicts: ['up', 'degraded'],
    pathMtu: null,
    pingFinds: [{ code: 'packet_loss' }],
    pingVerdicts: ['up', 'degraded'],
  },
  ...more,
});

const sometimes: readonly Scenario[] = [
  passing('errfirst', [1]),
  passing('erramid', [2, 3]),
  passing('flaky', [12], { checks: ['icmp', 'udp', 'tcp'] }),
  passing('errlate', [4]),
  passing('errslow', [2], {
    path: [
      ...routers(2),
      router({ delayMs: 105, refuse: { ...HOST, packets: [2] } }),
      router({ delayMs: 45 }),
      router(),
    ],
  }),
];

/** ICMP errors of other types and codes than “unreachable”. */
const otherErrors: readonly Scenario[] = [
  {
    name: 'problem',
    path: [...routers(3), router({ refuse: { 4: [12, 0], 6: [4, 0] } }), ...routers(2)],
    truth: refusedAt(4),
  },
  {
    name: 'problemheader',
    path: [...routers(3), router({ refuse: { 4: [12, 1], 6: [4, 1] } }), ...routers(2)],
    truth: refusedAt(4),
  },
];

export const refusals: readonly Scenario[] = [...byRouter, ...byPosition, ...byTarget, ...sometimes, ...otherErrors];

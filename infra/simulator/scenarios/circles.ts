import { router, routers, silent, type Scenario, type Truth } from '../scenario.ts';

const down = [{ code: 'down_everywhere' }] as const;

const circleAt = (hop: number): Truth => ({
  finds: [{ code: 'routing_loop', hop }, ...down],
  verdicts: ['down'],
  pathMtu: null,
  pingFinds: down,
  pingVerdicts: ['down'],
});

const ofLength = [1, 2, 3, 4, 5, 7].map((circle) => ({
  name: `loop${circle}`,
  path: [...routers(2), ...routers(circle), { circle }],
  truth: circleAt(3),
}));

/** Neither a router beyond the hop nor the target answers. */
const holeAfter = (hop: number): Truth => ({
  finds: [{ code: 'path_stops', hop }, ...down],
  verdicts: ['down'],
  pathMtu: null,
  pingFinds: down,
  pingVerdicts: ['down'],
});

const holes = [1, 2, 4, 8].map((hop) => ({
  name: `hole${hop}`,
  path: [...routers(hop - 1), router({ hole: true }), ...routers(2)],
  truth: holeAfter(hop),
}));

export const circles: readonly Scenario[] = [
  ...ofLength,
  { name: 'loop2first', path: [router(), ...routers(2), { circle: 2 }], truth: circleAt(2) },
  { name: 'loop2far', path: [...routers(12), ...routers(2), { circle: 2 }], truth: circleAt(13) },
  { name: 'loop2slow', path: [...routers(2), ...routers(2, { delayMs: 20 }), { circle: 2 }], truth: circleAt(3) },
  { name: 'loop3silent', path: [...routers(2), router(), silent, router(), { circle: 3 }], truth: circleAt(3) },
  {
    name: 'loop2passing',
    path: [...routers(2), ...routers(2), { circle: 2 }],
    then: [{ after: 12, path: routers(6) }],
    checks: ['icmp', 'udp', 'tcp'],
    truth: {
      isUnsteady: true,
      pathMtu: null,
      may: ['routing_loop', 'path_loss'],
      verdicts: ['up', 'degraded', 'down'],
    },
  },
  ...holes,
  {
    name: 'holefirst',
    path: [router({ hole: true, silent: true }), ...routers(3)],
    truth: { ...holeAfter(1), finds: [...down], may: ['path_stops'] },
  },
  {
    name: 'holebehindsilent',
    path: [...routers(3), ...routers(2, silent), router({ hole: true, silent: true }), ...routers(2)],
    truth: holeAfter(3),
  },
];

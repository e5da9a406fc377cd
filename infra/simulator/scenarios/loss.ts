import { router, routers, type Scenario, type Truth } from '../scenario.ts';

/** Findings allowed at a high loss rate, at which a probe may receive no answer at all. */
const heavy = ['down_some', 'down_one_probe', 'path_stops'] as const;

function lossy(name: string, hop: number, more: Partial<Scenario> & Pick<Scenario, 'path'>): Scenario {
  const truth: Truth = {
    // By chance answers look like limited ones in one of twenty checks: then no place is named.
    may: [{ code: 'path_loss', hop }, 'loss_at_target', 'rate_limited_hop', ...heavy],
    verdicts: ['degraded', 'partial'],
    pathMtu: null,
    pingFinds: [{ code: 'packet_loss' }],
    pingMay: [...heavy],
    pingVerdicts: ['degraded', 'partial'],
  };
  return { name, truth, pingOptions: { count: 16 }, ...more };
}

/** At a low loss rate, chance decides which hop shows it. */
const little: Truth = {
  may: ['path_loss', 'loss_at_target', 'rate_limited_hop'],
  verdicts: ['up', 'degraded'],
  pathMtu: null,
  pingMay: ['packet_loss'],
  pingVerdicts: ['up', 'degraded'],
};

/** Three packets per hop show that packets are lost, and seldom where. */
const fewFrom3: Truth = {
  may: [{ code: 'path_loss', hop: 3 }, 'loss_at_target', 'rate_limited_hop', ...heavy],
  verdicts: ['degraded', 'partial'],
  pathMtu: null,
  pingFinds: [{ code: 'packet_loss' }],
  pingMay: [...heavy],
  pingVerdicts: ['degraded', 'partial'],
};
/** All twelve packets of the four probes may be answered. */
const littleFrom3: Truth = { ...fewFrom3, verdicts: ['up', 'degraded', 'partial'] };

const core = [0.2, 0.4, 0.7].flatMap((loss) => [
  lossy(`coreloss${loss * 100}`, 3, {
    path: [...routers(2), router({ loss }), ...routers(3)],
    truth: loss < 0.4 ? littleFrom3 : fewFrom3,
  }),
  lossy(`coreloss${loss * 100}q10`, 3, {
    path: [...routers(2), router({ loss }), ...routers(3)],
    options: { queries: 10 },
  }),
]);

const atTarget: Truth = {
  finds: [{ code: 'loss_at_target' }],
  may: [...heavy],
  verdicts: ['degraded', 'partial'],
  pathMtu: null,
  pingFinds: [{ code: 'packet_loss' }],
  pingMay: [...heavy],
  pingVerdicts: ['degraded', 'partial'],
};

export const loss: readonly Scenario[] = [
  ...core,
  { name: 'coreloss5', path: [...routers(2), router({ loss: 0.05 }), ...routers(3)], truth: little },
  lossy('firstloss40', 2, { path: [...routers(1), router({ loss: 0.4 }), ...routers(3)], options: { queries: 10 } }),
  lossy('backloss40q10', 3, {
    path: [...routers(2), router({ lossBack: 0.4 }), ...routers(3)],
    options: { queries: 10 },
  }),
  {
    name: 'backloss40',
    path: [...routers(2), router({ lossBack: 0.4 }), ...routers(3)],
    pingOptions: { count: 16 },
    truth: fewFrom3,
  },
  {
    name: 'lastloss40q10',
    path: routers(5),
    target: { loss: 0.4 },
    options: { queries: 10 },
    pingOptions: { count: 16 },
    truth: atTarget,
  },
  { name: 'lastloss40', path: routers(5), target: { loss: 0.4 }, pingOptions: { count: 16 }, truth: atTarget },
  { name: 'lastloss5', path: routers(5), target: { loss: 0.05 }, truth: little },
  {
    name: 'shytarget50',
    path: routers(5),
    target: { answers: 0.5 },
    options: { queries: 10 },
    pingOptions: { count: 16 },
    // A target that leaves out answers at random looks like one behind loss.
    truth: { ...atTarget, verdicts: ['up', 'degraded', 'partial'] },
  },
  lossy('lossandlimit', 4, {
    path: [
      ...routers(1),
      router({ limit: { perSecond: 2, burst: 2 } }),
      router(),
      router({ loss: 0.4 }),
      ...routers(3),
    ],
    options: { queries: 10 },
  }),
];

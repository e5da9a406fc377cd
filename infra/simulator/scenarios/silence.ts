import { router, routers, silent, type Scenario } from '../scenario.ts';

const inARow = [1, 2, 3, 4, 5, 6, 8, 10].map((count) => ({
  name: `sil${count}`,
  path: [...routers(3), ...routers(count, silent), ...routers(3)],
}));

const atStart = [1, 3, 5, 8].map((count) => ({
  name: `sil${count}start`,
  path: [...routers(count, silent), ...routers(3)],
}));

const beforeTarget = [1, 3, 4, 5, 7].map((count) => ({
  name: `sil${count}end`,
  path: [...routers(3), ...routers(count, silent)],
}));

const others: readonly Scenario[] = [
  { name: 'silodd', path: [router(), silent, router(), silent, router(), silent, router()] },
  { name: 'silall3', path: routers(3, silent) },
  { name: 'silall6', path: routers(6, silent) },
  { name: 'siltwice', path: [...routers(2), ...routers(3, silent), router(), ...routers(3, silent), router()] },
];

/** The truth about routers that forward all packets and answer only some of them. */
const may = { may: ['rate_limited_hop'] } as const;
const limits = [
  { perSecond: 1, burst: 1 },
  { perSecond: 1, burst: 2 },
  { perSecond: 5, burst: 2 },
  { perSecond: 10, burst: 6 },
];
const limited = limits.flatMap((limit) => [
  {
    name: `limit${limit.perSecond}-${limit.burst}`,
    path: [...routers(2), router({ limit }), ...routers(3)],
    truth: may,
  },
  { name: `limit${limit.perSecond}-${limit.burst}all`, path: [...routers(6, { limit })], truth: may },
]);
const chosen = [0.2, 0.5, 0.8].flatMap((answers) => [
  { name: `shy${answers * 100}`, path: [...routers(2), router({ answers }), ...routers(3)], truth: may },
  { name: `shy${answers * 100}all`, path: routers(7, { answers }), truth: may },
  { name: `shy${answers * 100}end`, path: [...routers(4), ...routers(2, { answers })], truth: may },
]);
const many: readonly Scenario[] = [
  {
    name: 'limit1q10',
    path: [...routers(2), router({ limit: { perSecond: 1, burst: 1 } }), ...routers(3)],
    options: { queries: 10 },
    truth: may,
  },
  {
    name: 'shy50q10',
    path: [...routers(2), ...routers(2, { answers: 0.5 }), ...routers(2)],
    options: { queries: 10 },
    truth: may,
  },
];

export const silence: readonly Scenario[] = [
  ...inARow,
  ...atStart,
  ...beforeTarget,
  ...others,
  ...limited,
  ...chosen,
  ...many,
];
